package import GotchuCore

/// The days that a question about earnings is about.
package struct EarningsSelection: Equatable, Sendable {
    package enum Days: Equatable, Sendable {
        /// Any but `custom`.
        case period(EarningsPeriod)
        case dates(ClosedRange<CalendarDay>)
    }

    package var days: Days
    /// The zone whose days these are; the daemon's own unless given.
    package var zone: ZoneName?

    package init(_ days: Days, zone: ZoneName? = nil) {
        self.days = days
        self.zone = zone
    }

    /// - Parameters:
    ///   - parameter: Returns the value of a call's parameter; `nil` if it is absent.
    ///   - usual: The period unless the call names one.
    /// - Throws: A problem: 400 for what is no period, date or zone.
    package init(
        _ parameter: (String) -> String?,
        usual: EarningsPeriod
    ) throws(Problem) {
        if let name = parameter("zone") {
            guard let zone = ZoneName(name) else {
                throw .invalid("zone must be the name of a time zone, such as Europe/Berlin.")
            }
            self.zone = zone
        }
        let (from, to) = (parameter("from"), parameter("to"))
        if from != nil || to != nil {
            guard let from = from.flatMap({ CalendarDay($0) }),
                let to = to.flatMap({ CalendarDay($0) }), from <= to,
                parameter("period") ?? EarningsPeriod.custom.rawValue
                    == EarningsPeriod.custom.rawValue
            else {
                throw .invalid("from and to must be dates such as 2026-11-21, without a period.")
            }
            days = .dates(from...to)
            return
        }
        let named = parameter("period") ?? usual.rawValue
        guard let period = EarningsPeriod(rawValue: named), period != .custom else {
            throw .invalid("period must be today, week, month, all, or the dates from and to.")
        }
        days = .period(period)
    }

    /// The parameters of a call that asks for these days.
    package var query: String {
        let span =
            switch days {
            case .period(let period): "period=\(period.rawValue)"
            case .dates(let days): "from=\(days.lowerBound)&to=\(days.upperBound)"
            }
        return span + (zone.map { "&zone=\(percentEncoded($0.rawValue))" } ?? "")
    }

    /// The parts that these days are told in: hours of one day, days of several; all time has none.
    package var step: EarningsStep? {
        switch days {
        case .period(.today): .hour
        case .period(.all): nil
        case .period(.week), .period(.month), .period(.custom): .day
        case .dates(let days): days.lowerBound == days.upperBound ? .hour : .day
        }
    }
}
