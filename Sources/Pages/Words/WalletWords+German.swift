extension WalletWords {
    static let german = WalletWords(
        currency: "Währung",
        refresh: "Neu laden",
        balance: "Guthaben",
        history: "Verlauf",
        nothingYet: "Noch nichts",
        paymentsHere: "Hier stehen dann Ihre Zahlungen.",
        older: "Ältere",
        when: "Wann",
        what: "Was",
        amount: "Betrag",
        deposit: "Einzahlung",
        paid: "Bezahlt",
        paidTo: "Bezahlt an {}",
        received: "Erhalten",
        refundGiven: "Erstattet",
        refundFrom: "Erstattung von {}",
        refundReceived: "Erstattung erhalten",
        addMoney: "Geld einzahlen",
        amountInDollars: "Betrag in Dollar",
        development: "Dies ist ein Entwicklungsserver: Das Geld ist nicht echt und sofort da.",
        byCard:
            "Sie zahlen mit Karte auf der Seite des Zahlungsdienstes und kommen hierher "
            + "zurück.",
        limits:
            "{} bis {} auf einmal, höchstens {}-mal in der Stunde, {} davon noch nicht "
            + "bezahlt. In der Wallet sind dann höchstens {}.",
        deposits: "Einzahlungen",
        state: "Stand",
        act: "Aktion",
        until: "bis {}",
        waiting: "Wartet auf Zahlung",
        confirming: "Wird bestätigt",
        held: "Wird vom Betreiber geprüft",
        added: "Eingezahlt",
        failed: "Fehlgeschlagen",
        cancelled: "Abgebrochen",
        cancel: "Abbrechen",
        pageUnknown:
            "Es ist noch nicht bekannt, ob die Zahlungsseite für {} angelegt wurde. "
            + "Abgebucht wird nichts, bevor Sie dort zahlen.",
        atProvider: "Weiter beim Zahlungsdienst",
        goOn: "Weiter",
        providersPage: "Die Seite gehört dem Zahlungsdienst und führt hierher zurück.",
        back: "Zurück von der Zahlungsseite",
        backText:
            "Wenn Sie bezahlt haben, ist das Geld in der Wallet, sobald der Zahlungsdienst "
            + "es bestätigt hat. Zweimal abgebucht werden kann es nicht.",
        left: "Die Zahlungsseite wurde verlassen",
        leftText:
            "Wenn Sie nicht bezahlt haben, wird nichts abgebucht. Die Wallet sagt, was "
            + "daraus wurde.",
        goOnHere: "Hier geht es weiter",
        moneyAdded: "Eingezahlt: Das Geld ist in Ihrer Wallet.",
        malformedDeposit:
            "Nichts wurde abgebucht: Der Betrag muss einer sein wie 20 oder 20,50, innerhalb "
            + "der Grenzen.",
        depositLimit:
            "Nichts wurde abgebucht: Es ist mehr, als diese Wallet jetzt aufnehmen darf. Die "
            + "Grenzen stehen unten.",
        tooManyDeposits:
            "Nichts wurde abgebucht: Zu viele Einzahlungen sind offen oder wurden in einer Stunde "
            + "begonnen. Bezahlen Sie unten eine, brechen Sie eine ab, oder warten Sie.",
        depositRefused: "Der Zahlungsdienst hat das abgelehnt. Nichts wurde abgebucht.",
        depositUnpayable: "Das kann nicht mehr bezahlt werden. Der Stand steht unten.",
        depositCancelled: "Abgebrochen. Nichts wurde abgebucht.",
        depositReturned:
            "Sie sind zurück von der Zahlungsseite. Das Geld gehört Ihnen, sobald dort "
            + "Eingezahlt steht.",
        depositLeft: "Sie haben die Zahlungsseite verlassen. Was daraus wurde, steht unten."
    )
}
