/// The built-in templates of every server. Their ids and rules never change.
extension ContestTemplate {
    package static let builtIn: [ContestTemplate] = [race, quiz, picks]

    private static let rank = column("rank", .plain("#"), .number, .rank)
    private static let points = column(
        "points",
        text("Points", "Punkte", "النقاط"),
        .number,
        .points
    )
    private static let prize = column("prize", text("Prize", "Preis", "الجائزة"), .currency, .prize)

    private static func text(_ english: String, _ german: String, _ arabic: String) -> LocalText {
        .byLanguage(["en": english, "de": german, "ar": arabic])
    }

    /// Returns a leaderboard column: right-aligned, except for ranks and names.
    private static func column(
        _ key: String,
        _ label: LocalText,
        _ type: Column.Kind,
        _ shows: Column.Content
    ) -> Column {
        let isRight: Bool? = shows == .rank || shows == .name ? nil : true
        return Column(key: key, label: label, type: type, shows: shows, isRight: isRight)
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
            column("runner", text("Runner", "Läufer", "العدّاء"), .string, .name),
            column("time", text("Time", "Zeit", "الوقت"), .duration, .points),
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
            column("team", text("Team", "Team", "الفريق"), .string, .name),
            points,
            column("seconds", text("Seconds", "Sekunden", "الثواني"), .number, .value),
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
            column("player", text("Player", "Mitspieler", "المشارك"), .string, .name),
            points,
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
