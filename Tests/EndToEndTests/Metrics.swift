import Foundation
import TestSupport
import Testing

/// A page of metrics, parsed with Prometheus's own Python library, prometheus_client.
struct Metrics {
    private struct Sample: Decodable {
        let name: String
        let type: String
        let labels: [String: String]
        let value: Double
    }

    private let samples: [Sample]

    private static let parser = """
        import json, sys
        from prometheus_client.parser import text_string_to_metric_families as families
        print(json.dumps([
            {"name": s.name, "type": f.type, "labels": s.labels, "value": s.value}
            for f in families(open(sys.argv[1]).read()) for s in f.samples
        ]))
        """

    init(of device: Device) async throws {
        try await self.init(["--unix-socket", device.socket, "http://gotchu/metrics"])
    }

    /// - Parameter curl: The arguments with which curl gets the page.
    init(_ curl: [String]) async throws {
        let curl = try Program("/usr/bin/curl", ["--silent"] + curl)
        try await curl.exitCode()
        let folder = try TemporaryFolder()
        let page = try folder.write(curl.text, to: "metrics")
        let python = try await Python.interpreter()
        let parse = try Program(python, ["-c", Self.parser, page])
        #expect(try await parse.exitCode() == 0, "\(parse.text)")
        samples = try JSONDecoder().decode([Sample].self, from: Data(parse.text.utf8))
    }

    /// The value of a sample; `nil` if the page does not have the sample.
    subscript(name: String, labels: [String: String] = [:]) -> Double? {
        samples.first { $0.name == name && $0.labels == labels }?.value
    }

    /// Checks Prometheus's conventions for names and types, and the buckets of histograms.
    func expectConventions() {
        for sample in samples {
            #expect(sample.type != "unknown", "\(sample.name) has no type")
            let isCounter = sample.type == "counter"
            #expect(isCounter == sample.name.hasSuffix("_total"), "\(sample.name)")
            #expect(!(isCounter && sample.value < 0))
        }
        let series = samples.map { "\($0.name) \($0.labels.sorted { $0.key < $1.key })" }
        #expect(Set(series).count == series.count, "A series occurs twice")
        for histogram in Set(samples.filter { $0.type == "histogram" }.map(\.name))
        where histogram.hasSuffix("_bucket") {
            let buckets = samples.filter { $0.name == histogram }.map(\.value)
            #expect(buckets == buckets.sorted(), "\(histogram) is not cumulative")
            let count = histogram.replacing("_bucket", with: "_count")
            #expect(buckets.last == self[count])
        }
    }
}
