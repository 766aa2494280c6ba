extension LayoutWords {
    static let german = LayoutWords(
        pages: "Seiten",
        skip: "Zum Inhalt",
        logOut: "Abmelden",
        earnings: "Einnahmen",
        payouts: "Auszahlungen",
        contests: "Wettbewerbe",
        devices: "Geräte",
        webhooks: "Webhooks",
        wallet: "Wallet",
        failed: "fehlgeschlagen",
        stale: "Stand {}. Der Server antwortet nicht; Neueres fehlt hier.",
        nothingHere: "Hier ist nichts",
        notNow: "Das geht gerade nicht",
        notPossible: "Das geht so nicht",
        triesAgain: "Diese Seite versucht es in {} Sekunden von selbst noch einmal.",
        code: "Code",
        request: "Anfrage",
        toStart: "Zum Anfang",
        toContest: "Zum Wettbewerb",
        toRequest: "Zur Zahlung",
        checkOutcome: "Nachsehen",
        sameAgain:
            "Der Knopf schickt dasselbe noch einmal, mit demselben Schlüssel: Es geschieht "
            + "einmal.",
        logIn: "Anmelden",
        email: "E-Mail-Adresse",
        developmentLogin:
            "Dies ist ein Entwicklungsserver: Jeder kann sich als jeder anmelden, und kein "
            + "Geld ist echt.",
        providerLogin:
            "Sie melden sich auf der Seite Ihrer Organisation an und kommen hierher zurück.",
        loggedOut: "Abgemeldet, auf allen Servern.",
        loginTooNarrow:
            "Ihre Anmeldung gilt nur für Zahlungen. Melden Sie sich für die Seiten des "
            + "Händlers an.",
        loginWithoutPayouts:
            "Geld geht nur mit einer Anmeldung für Auszahlungen an eine Bank: Melden Sie "
            + "sich noch einmal an.",
        today: "Heute",
        date: "{} {}. {}",
        weekdays: ["Mo", "Di", "Mi", "Do", "Fr", "Sa", "So"],
        months: [
            "Jan.", "Feb.", "März", "Apr.", "Mai", "Juni", "Juli", "Aug.", "Sept.", "Okt.",
            "Nov.", "Dez.",
        ]
    )
}
