package import GotchuCore

/// A page in the Prometheus text format, version 0.0.4.
package struct MetricsPage {
    package private(set) var text = ""

    package init() {}

    package typealias Sample = (labels: [String: String], value: Int)

    /// - Parameter name: The name, which ends in `_total`.
    package mutating func counter(_ name: String, _ help: String, _ samples: [Sample]) {
        add(name, help, "counter", samples)
    }

    package mutating func counter(_ name: String, _ help: String, _ value: Int) {
        add(name, help, "counter", [([:], value)])
    }

    package mutating func gauge(_ name: String, _ help: String, _ samples: [Sample]) {
        add(name, help, "gauge", samples)
    }

    package mutating func gauge(_ name: String, _ help: String, _ value: Int) {
        add(name, help, "gauge", [([:], value)])
    }

    /// - Parameter name: The name, which ends in `_seconds`.
    package mutating func histogram(_ name: String, _ help: String, _ histogram: Histogram) {
        self.histogram(name, help, [([:], histogram)])
    }

    /// - Parameter name: The name, which ends in `_seconds`.
    package mutating func histogram(
        _ name: String,
        _ help: String,
        _ histograms: [(labels: [String: String], histogram: Histogram)]
    ) {
        head(name, help, "histogram")
        for (labels, histogram) in histograms {
            for (bound, count) in zip(histogram.bounds, histogram.cumulativeCounts) {
                let labels = labels.merging(["le": "\(bound.inSeconds)"]) { $1 }
                line("\(name)_bucket", labels, "\(count)")
            }
            let last = labels.merging(["le": "+Inf"]) { $1 }
            line("\(name)_bucket", last, "\(histogram.count)")
            line("\(name)_sum", labels, "\(histogram.sum.inSeconds)")
            line("\(name)_count", labels, "\(histogram.count)")
        }
    }

    private mutating func add(_ name: String, _ help: String, _ type: String, _ samples: [Sample]) {
        head(name, help, type)
        for sample in samples { line(name, sample.labels, "\(sample.value)") }
    }

    private mutating func head(_ name: String, _ help: String, _ type: String) {
        let escaped = help.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
        text += "# HELP \(name) \(escaped)\n# TYPE \(name) \(type)\n"
    }

    private mutating func line(_ name: String, _ labels: [String: String], _ value: String) {
        let inside = labels.sorted { $0.key < $1.key }
            .map { "\($0.key)=\"\(Self.escape($0.value))\"" }.joined(separator: ",")
        text += inside.isEmpty ? name : "\(name){\(inside)}"
        text += " \(value)\n"
    }

    private static func escape(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            .replacing("\n", with: "\\n")
    }
}
