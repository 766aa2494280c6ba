internal import Devices
internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger
internal import Pages

/// The pages of a person's own devices: the list, a form for a new device, and revocation.
struct DevicePages: Sendable {
    private static let maximumNameLength = 64
    /// The part of the daily budget that a new device takes: a thousand may be added in a day.
    private static let deviceBytes = DailyBudget.bytes / 1_000

    let gate: WebGate
    let devices: DeviceRegistry
    let ledger: Ledger

    @Sendable func list(_ visit: WebVisit) async throws -> Response {
        try await page(visit).response(for: visit)
    }

    /// Registers a device that acts for the person, and shows its code. If the form is resubmitted
    /// and no code was used yet, a new code replaces the old one: the first response may be lost.
    @Sendable func add(_ form: inout WebForm) async throws -> Response {
        let visit = form.visit
        let (name, nonce) = (form.fields.typed("name"), form.fields.text("key"))
        let maySpend = form.fields.text("spend") == "yes"
        try form.fields.end()
        try visit.requireFresh(for: "A new device")
        guard let name, let nonce, name.utf8.count <= 4 * Self.maximumNameLength,
            (1...Self.maximumNameLength).contains(name.unicodeScalars.count),
            name.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }),
            !maySpend || visit.allows(.payer)
        else {
            let problem = "A name has 1 to 64 characters, none of them control."
            return try await page(visit, problem: problem)
                .response(for: visit, status: .badRequest)
        }
        // A resubmitted form yields the same device id. Nobody else can compute it.
        let id = DeviceID(trusted: computedID("device", visit.token.text(for: nonce)))
        let credential = DeviceCredential(for: id)
        let scopes: [Scope] = maySpend ? [.payee, .payer] : [.payee]
        let isShown = try await devices.change(id) { [now = visit.now] device in
            guard device.lastUsedAt == nil, device.revokedAt == nil, device.name == name,
                device.scopes == scopes.text
            else { return false }
            device.enrol(
                family: credential.familyHash,
                current: credential.secretHash,
                at: now
            )
            return true
        }
        guard isShown ?? true else {
            let problem = """
                This device was added already, with another name or other rights, or its code was \
                used or revoked.
                """
            return try await page(visit, problem: problem).response(for: visit, status: .conflict)
        }
        if isShown == nil {
            do throws(Refusal) {
                try ledger.spend(Self.deviceBytes, by: visit.user)
            } catch {
                throw error.thrown
            }
            try await devices.add(
                Device(
                    id: id,
                    user: visit.user,
                    name: name,
                    scopes: scopes.text,
                    createdAt: visit.now,
                    family: credential.familyHash,
                    current: credential.secretHash,
                    expiresAt: visit.now.advanced(by: Device.enrolment)
                )
            )
        }
        return Self.added(name, credential).response(for: visit)
    }

    private static func added(_ name: String, _ credential: DeviceCredential) -> WebPage {
        WebPage(
            title: "Device added",
            section: .devices,
            content: """
                <section class="panel"><h2>The code of <bdi>\(name)</bdi></h2>
                <p>It is shown only now, and is good for one machine, once, and for a day: whoever
                uses it first has the device's login.</p>
                <p><code class="secret">\(credential.text)</code></p>
                <p>On the device: <code>gotchu-ctl login</code>, then paste it.</p>
                <p><a href="\(WebPath.devices)">All devices</a></p></section>
                """
        )
    }

    /// Asks for confirmation before a device is revoked. A revoked till cannot request payments any
    /// more.
    @Sendable func confirm(_ visit: WebVisit) async throws -> Response {
        let id = visit.context.parameters.get("device") ?? ""
        guard let device = try await devices.device(DeviceID(trusted: id)),
            device.user == visit.user, device.revokedAt == nil
        else { throw Problem(.notFound, detail: "You have no such device.") }
        let form = visit.form(
            to: WebPath.revocation(of: device.id),
            "<button class=\"danger\">Revoke</button>"
        )
        let rest: HTML? = device.tokenEndsAt.flatMap { end in
            visit.now < end ? " Its last one is good until \(visit.zone.time(end))." : nil
        }
        return WebPage(
            title: "Revoke a device",
            section: .devices,
            content: """
                <section class="panel narrow"><h2>Revoke <bdi>\(device.name)</bdi>?</h2>
                <p>It gets no new token any more, and needs a new code to be back.\(rest)</p>
                \(form)
                <p><a href="\(WebPath.devices)">Keep it</a></p></section>
                """
        )
        .response(for: visit)
    }

    /// Revokes a device. Another person's device is treated as missing.
    @Sendable func revoke(_ form: inout WebForm) async throws -> Response {
        let visit = form.visit
        try form.fields.end()
        let id = visit.context.parameters.get("device") ?? ""
        let (user, now) = (visit.user, visit.now)
        let isOwn = try await devices.change(DeviceID(trusted: id)) { device in
            guard device.user == user else { return false }
            device.revoke(.byOperator, at: now)
            return true
        }
        guard isOwn == true else { throw Problem(.notFound, detail: "You have no such device.") }
        return gate.redirect(to: WebPath.devices, saying: .deviceRevoked)
    }

    // MARK: The page

    private func page(_ visit: WebVisit, problem: String? = nil) async throws -> WebPage {
        // Revoked devices come last. In both groups the newest come first.
        let own = try await devices.devices(of: visit.user).sorted { first, second in
            let isRevoked = (first.revokedAt != nil, second.revokedAt != nil)
            return isRevoked.0 == isRevoked.1
                ? first.createdAt > second.createdAt : isRevoked.1
        }
        let columns = [
            ("Name", "what"), ("State", ""), ("May", ""), ("Last seen", ""), ("Do", "do"),
        ]
        let list: HTML =
            own.isEmpty
            ? """
            <div class="empty"><b>No device yet</b>A till or a kiosk gets its login here.</div>
            """
            : HTML.list(columns, own.map { row($0, visit) })
        return WebPage(
            title: "Devices",
            section: .devices,
            banner: problem.map { WebPage.Banner($0, isBad: true) },
            content: "<section class=\"panel\">\(list)</section>\(addPanel(visit))"
        )
    }

    private func row(_ device: Device, _ visit: WebVisit) -> HTML {
        let scopes = device.scopes.split(separator: " ")
        let may =
            scopes.contains { $0 == Scope.payer.rawValue } ? "request and pay" : "request payments"
        let seen = device.lastUsedAt.map { visit.zone.time($0) } ?? "never"
        let end: HTML? =
            device.revokedAt != nil
            ? nil
            : """
            <a class="danger" href="\(WebPath.revocation(of: device.id))">Revoke …\
            <span class="visually-hidden"> \(device.name)</span></a>
            """
        return """
            <tr><td class="what"><bdi>\(device.name)</bdi></td>\
            <td>\(chip(of: device, at: visit.now))</td><td>\(HTML.label("may"))\(may)</td>\
            <td>\(HTML.label("seen"))\(seen)</td><td class="do">\(end)</td></tr>

            """
    }

    private func chip(of device: Device, at time: Timestamp) -> HTML {
        switch device.revocation {
        case .byOperator: .chip("✕", "Revoked")
        case .byReuse: .chip("!", "Revoked: a copy was used", "bad")
        case nil where time >= device.expiresAt: .chip("◷", "Expired")
        case nil where device.generation == 0: .chip("◌", "Waits for its code")
        case nil: .chip("✓", "In use", "good")
        }
    }

    private func addPanel(_ visit: WebVisit) -> HTML {
        let spend: HTML? =
            visit.allows(.payer)
            ? """
            <label class="choice"><input type="checkbox" name="spend" value="yes">\
            It may spend from the wallet, too</label>
            """ : nil
        let form = visit.form(
            to: WebPath.devices,
            style: "stack",
            """
            \(HTML.hidden("key", IdempotencyKey.random().rawValue))
            <label>Name<input name="name" required maxlength="64" autocomplete="off"></label>
            \(spend)
            <button class="main">Add and show its code</button>
            """
        )
        return """
            <section class="panel narrow"><h2>Add a device</h2>
            \(visit.isFresh ? form : visit.freshLogin(for: "A new device", to: WebPath.devices))
            </section>
            """
    }
}
