extension DisplayWords {
    static let german = DisplayWords(
        isRightToLeft: false,
        money: MoneyFormat(decimal: ",", group: ".", isSymbolFirst: false),
        idle: Copy("Hier mit dem Handy zahlen", "Die Kasse startet die Zahlung"),
        closed: Copy("Zurzeit keine Handyzahlung", "Bitte an der Kasse fragen"),
        preparing: Copy("Einen Moment", "Ihre Zahlung wird vorbereitet"),
        waiting: Copy("Handy hierher halten", "Wallet-App öffnen"),
        near: Copy("Handy erkannt", "Betrag auf dem Handy prüfen"),
        confirming: Copy("Wird bestätigt", "Handy bitte in der Nähe lassen"),
        released: Copy("Noch nicht bezahlt", "Nichts wurde abgebucht. Bitte noch einmal"),
        paid: Copy("Bezahlt", "Vielen Dank!"),
        expired: Copy("Die Zeit ist um", "Nichts wurde abgebucht. Bitte fragen"),
        cancelled: Copy("Abgebrochen", "Nichts wurde abgebucht"),
        checking: Copy("Zahlung wird geprüft", "Bitte warten und nicht noch einmal zahlen"),
        unavailable: Copy(
            "Diese Zahlung geht gerade nicht",
            "Nichts wurde abgebucht. Bitte fragen"
        ),
        offline: Copy("Bitte warten", "Schon bezahlt? Nicht noch einmal zahlen"),
        left: "übrig",
        code: "auf Ihrem Handy",
        scan: "Keine App? Scannen und zahlen",
        offAir: "Einen Moment …",
        silent: "Ihre Zahlung erscheint hier vielleicht etwas später",
        tip: "Trinkgeld",
        shares: "{paid} von {count} Teilen sind bezahlt",
        places: "Freie Plätze: {left}"
    )
}
