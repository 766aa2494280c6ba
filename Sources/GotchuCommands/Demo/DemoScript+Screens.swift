import GotchuAPI
import GotchuCore
import LocalAPI

extension DemoScript {
    /// The time to read a page before the demo continues.
    private static let reading = Duration.seconds(5)
    /// The time to pay on the payer's page before the simulated payer arrives.
    private static let browserPaymentTime = Duration.seconds(20)
    /// The time for which the payer looks at the phone.
    private static let pause = Duration.seconds(3)

    /// Prints the addresses of the pages, and opens them in a browser if possible.
    func show(_ screens: DemoScreens) async throws {
        try await output.step {
            for (name, url) in [
                ("display   ", screens.displayURL), ("till      ", screens.tillURL),
                ("earnings  ", screens.earningsURL),
            ] {
                output.detail("\(name) \(url)")
            }
            let isOpen = try await screens.open()
            if !isOpen {
                output.detail("from another machine:  ssh \(screens.forwarding) HOST")
            }
            let text = isOpen ? "Your browser shows" : "Open in a browser"
            return ((), "\(text): display, till, earnings")
        }
        // No event reports that a person has read a page.
        try await Task.sleep(for: Self.reading)
    }

    /// Lets people use the pages until they stop the demo. The payer comes to each request and pays
    /// it, unless it was cancelled or paid before.
    func stay(_ child: DemoChild) async throws {
        try environment.move(child, to: 5)
        output.note(
            "Charge an amount on the till's page. Before, pair the till with its code:",
            "\(environment.control) till pair CODE --name Front --refunds 50.00/day"
                + " --socket \(environment.socket(of: .kiosk))",
            "The earnings are those of \(DemoEnvironment.Role.kiosk.email). Ctrl-C ends the demo."
        )
        let follower = EventFollower(client: kiosk, output: Output(isJSON: true))
        var met: Set<SessionID> = []
        while true {
            let request = try await follower.follow { event -> RequestView? in
                event.requests.first { $0.state == .advertising && !met.contains($0.id) }
            }
            met.insert(request.id)
            try await meet(request, child)
        }
    }

    private func meet(_ request: RequestView, _ child: DemoChild) async throws {
        let seconds = Self.browserPaymentTime.wholeSecondsText
        output.note(
            "\(request.amount) requested. The payer comes in \(seconds); or pay it in a browser:",
            request.payLink?.lowercased() ?? ""
        )
        // The time that a person has to pay in a browser. The request's state is read after it.
        try await Task.sleep(for: Self.browserPaymentTime)
        // If the request was paid or cancelled meanwhile, the payer does not come.
        guard try await kiosk.request(request.id).state == .advertising else { return }
        try environment.move(child, to: 0.05)
        // A person looks at the phone before they pay. No event reports that.
        try await Task.sleep(for: Self.pause)
        do {
            let new = NewPayment(
                sid: request.id,
                confirmAmountCents: request.amountCents
            )
            _ = try await payer.createPayment(new)
            output.note("The payer pays \(request.amount)")
        } catch LocalClientFailure.problem(let problem) {
            output.note("The payer does not pay: \(problem.detail)")
        }
        try environment.move(child, to: 5)
    }
}
