import GotchuCore
import TestSupport
import Testing

@Suite struct RecognitionFuzzTests {
    @Test("Among random payloads, ten hex digits are recognised and nothing else is")
    func fuzz() {
        var random = SeededGenerator("recognition")
        let hex = Array("0123456789abcdefABCDEF".utf8)
        var ours = 0
        for _ in 0..<250_000 * effort {
            var data = (0..<10).map { _ in hex[Int.random(in: 0..<hex.count, using: &random)] }
            switch UInt8.random(in: 0..<5, using: &random) {
            case 0:
                data[Int.random(in: 0..<10, using: &random)] = .random(in: 0...255, using: &random)
            case 1: data.removeLast(Int.random(in: 0...10, using: &random))
            case 2: data.append(.random(in: 0...255, using: &random))
            case 3: data = data.map { _ in .random(in: 0...255, using: &random) }
            default: break
            }
            let isNamed = Bool.random(using: &random)
            let name = isNamed ? String(decoding: data, as: UTF8.self) : nil
            let lists = Bool.random(using: &random)
            let heard = HeardAdvertisement(
                serviceData: isNamed ? nil : data,
                listsService: lists,
                localName: name
            )
            let isHex = data.count == 10 && data.allSatisfy { hex.contains($0) }
            if case .ours(let eid, let carrier) = heard.recognise() {
                ours += 1
                guard isHex, carrier == (isNamed ? .localName : .serviceData), !isNamed || lists,
                    eid.serviceData == data.map({ (65...70).contains($0) ? $0 + 32 : $0 })
                else {
                    Issue.record("seed \(random.seed): \(data) is not \(eid)")
                    return
                }
            } else if isHex, !isNamed || lists {
                Issue.record("seed \(random.seed): \(data) was not recognised")
                return
            }
        }
        #expect(ours > 25_000)
    }
}
