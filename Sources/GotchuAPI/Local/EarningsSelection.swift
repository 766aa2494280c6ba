package import GotchuCore

/// The days for which earnings are requested.
package struct EarningsSelection: Equatable, Sendable {
    package enum Days: Equatable, Sendable {
        /// Any period except `custom`.
        case period(EarningsPeriod)
        case dates(ClosedRange<CalendarDay>)
    }

    package var days: Days
    /// The time zone of the days; `nil` for the daemon's.
    package var zone: TimeZoneName?

    package init(_ days: Days, zone: TimeZoneName? = nil) {
        self.days = days
        self.zone = zone
    }

    /// - Parameters:
    ///   - parameter: Returns the value of a query parameter; `nil` if it is absent.
    ///   - defaultPeriod: The period if the call names none.
    /// - Throws: A problem: 400 for an invalid period, date or zone.
    package init(
        _ parameter: (String) -> String?,
        defaultPeriod: EarningsPeriod
    ) throws(Problem) {
        if let name = parameter("zone") {
            guard let zone = TimeZoneName(name) else {
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
        let named = parameter("period") ?? defaultPeriod.rawValue
        guard let period = EarningsPeriod(rawValue: named), period != .custom else {
            throw .invalid("period must be today, week, month, all, or the dates from and to.")
        }
        days = .period(period)
    }

    /// The query parameters for these days.
    package var query: String {
        let span =
            switch days {
            case .period(let period): "period=\(period.rawValue)"
            case .dates(let days): "from=\(days.lowerBound)&to=\(days.upperBound)"
            }
        return span + (zone.map { "&zone=\(percentEncoded($0.rawValue))" } ?? "")
    }

    /// The length of the parts: hours for one day, days for several; `nil` for all time.
    package var step: EarningsStep? {
        switch days {
        case .period(.today): .hour
        case .period(.all): nil
        case .period(.week), .period(.month), .period(.custom): .day
        case .dates(let days): days.lowerBound == days.upperBound ? .hour : .day
        }
    }
}
