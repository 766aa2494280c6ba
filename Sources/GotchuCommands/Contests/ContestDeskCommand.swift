import ArgumentParser
import GotchuAPI
import GotchuCore
import LocalAPI

/// `gotchu-ctl contest desk`: advertises a contest; people enter it by a tap.
struct ContestDeskCommand: ContestVerb {
    static let configuration = CommandConfiguration(
        commandName: "desk",
        abstract: "Let people enter your contest by a tap at this device.",
        discussion: """
            EXAMPLES:
              gotchu-ctl contest desk ID
              gotchu-ctl contest desk ID --ttl 43200 --no-wait

            Those who pay here are in; each payer's lock holds a place. It ends when the contest \
            locks at the latest. Ctrl-C closes the desk, and nobody who is in leaves by that.
            """
    )

    @OptionGroup var target: ContestOptions

    @Option(help: .value("seconds", "Close the desk after this time: 1 to 43200."))
    var ttl = 3_600

    @Flag(name: .customLong("no-wait"), help: "Return as soon as the desk is on the air.")
    var doesNotWait = false

    func run(_ access: ContestAccess, _ output: Output) async throws {
        guard (1...43_200).contains(ttl) else {
            throw CommandFailure.usage(
                "--ttl is 1 to 43200 seconds.",
                next: access.command("desk", "--ttl 43200")
            )
        }
        let detail = try await access.detail().document
        guard detail.entryFeeCents.value > 0 else {
            throw CommandFailure.negative(
                "\(detail.title) is free, and is entered without a desk.",
                next: access.command("invite")
            )
        }
        let new = NewRequest(
            amountCents: detail.entryFeeCents.value,
            currency: detail.currency,
            ttlSeconds: ttl,
            contestID: access.id.description
        )
        let run = RequestRun(new: new, client: access.client, output: output)
        try await doesNotWait ? run.begin() : run.runToEnd()
    }
}
