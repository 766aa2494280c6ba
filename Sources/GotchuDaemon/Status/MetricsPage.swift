/// A page in the Prometheus text format, version 0.0.4.
struct MetricsPage {
    private(set) var text = ""

    typealias Sample = (labels: [String: String], value: Int)

    mutating func counter(_ name: String, _ help: String, _ samples: [Sample]) {
        add(name, help, "counter", samples)
    }

    mutating func gauge(_ name: String, _ help: String, _ samples: [Sample]) {
        add(name, help, "gauge", samples)
    }

    private mutating func add(_ name: String, _ help: String, _ type: String, _ samples: [Sample]) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
        for sample in samples {
            let labels = sample.labels.sorted { $0.key < $1.key }
                .map { "\($0.key)=\"\($0.value)\"" }.joined(separator: ",")
            text += labels.isEmpty ? name : "\(name){\(labels)}"
            text += " \(sample.value)\n"
        }
    }
}
