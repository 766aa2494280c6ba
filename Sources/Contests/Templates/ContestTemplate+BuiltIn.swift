/// The templates that every server has. Their ids and rules never change.
extension ContestTemplate {
    package static let builtIn: [ContestTemplate] = [race, quiz, picks]

    private static let rank = Column(
        key: "rank",
        label: .plain("#"),
        type: .number,
        shows: .rank,
        isRight: nil
    )

    private static let prize = Column(
        key: "prize",
        label: text("Prize", "Preis", "الجائزة"),
        type: .currency,
        shows: .prize,
        isRight: true
    )

    private static func text(_ english: String, _ german: String, _ arabic: String) -> LocalText {
        .byLanguage(["en": english, "de": german, "ar": arabic])
    }

    static let race = ContestTemplate(
        id: "01999f00-0000-7000-8000-000000000001",
        type: "race",
        badge: text("RACE", "RENNEN", "سباق"),
        color: "#0b6e4f",
        icon: "flag",
        heroImage: nil,
        rulesURL: nil,
        scoring: Scoring(
            by: .entry,
            wins: .low,
            format: text("Fastest time wins", "Die schnellste Zeit gewinnt", "أسرع وقت يفوز"),
            rounds: 1,
            tieBreaker: nil,
            tieBreaks: []
        ),
        columns: [
            rank,
            Column(
                key: "runner",
                label: text("Runner", "Läufer", "العدّاء"),
                type: .string,
                shows: .name,
                isRight: nil
            ),
            Column(
                key: "time",
                label: text("Time", "Zeit", "الوقت"),
                type: .duration,
                shows: .points,
                isRight: true
            ),
            prize,
        ],
        roster: nil,
        sections: []
    )

    static let quiz = ContestTemplate(
        id: "01999f00-0000-7000-8000-000000000002",
        type: "quiz",
        badge: text("QUIZ", "QUIZ", "مسابقة"),
        color: "#5b3fa8",
        icon: "question",
        heroImage: nil,
        rulesURL: nil,
        scoring: Scoring(
            by: .entry,
            wins: .high,
            format: text("Most points win", "Die meisten Punkte gewinnen", "أكثر النقاط تفوز"),
            rounds: nil,
            tieBreaker: text(
                "Fewer seconds for the deciding question",
                "Weniger Sekunden für die Stichfrage",
                "ثوانٍ أقل لسؤال الحسم"
            ),
            tieBreaks: [ContestTerms.TieBreak(key: "seconds", wins: .low)]
        ),
        columns: [
            rank,
            Column(
                key: "team",
                label: text("Team", "Team", "الفريق"),
                type: .string,
                shows: .name,
                isRight: nil
            ),
            Column(
                key: "points",
                label: text("Points", "Punkte", "النقاط"),
                type: .number,
                shows: .points,
                isRight: true
            ),
            Column(
                key: "seconds",
                label: text("Seconds", "Sekunden", "الثواني"),
                type: .number,
                shows: .value,
                isRight: true
            ),
            prize,
        ],
        roster: nil,
        sections: []
    )

    static let picks = ContestTemplate(
        id: "01999f00-0000-7000-8000-000000000003",
        type: "picks",
        badge: text("PICKS", "TIPPS", "توقعات"),
        color: "#8a4b08",
        icon: "list",
        heroImage: nil,
        rulesURL: nil,
        scoring: Scoring(
            by: .rosterSum,
            wins: .high,
            format: text(
                "The points of the chosen three are added up",
                "Die Punkte der drei Gewählten werden addiert",
                "تُجمع نقاط الثلاثة المختارين"
            ),
            rounds: nil,
            tieBreaker: nil,
            tieBreaks: []
        ),
        columns: [
            rank,
            Column(
                key: "player",
                label: text("Player", "Mitspieler", "المشارك"),
                type: .string,
                shows: .name,
                isRight: nil
            ),
            Column(
                key: "points",
                label: text("Points", "Punkte", "النقاط"),
                type: .number,
                shows: .points,
                isRight: true
            ),
            prize,
        ],
        roster: RosterRule(
            size: 3,
            positions: [],
            salaryCap: 100,
            players: (1...8).map { number in
                RosterRule.Player(
                    id: "01999f00-0000-7000-8000-0000000001\(number < 10 ? "0" : "")\(number)",
                    name: "Lane \(number)",
                    position: "lane",
                    salary: Int64(50 - 5 * number)
                )
            }
        ),
        sections: []
    )
}
