import Testing

@testable import Pages

@Suite("Escaping and assets of pages")
struct HTMLTests {
    @Test("Text in an element and in an attribute of a page is escaped")
    func text() {
        let memo = "<script>alert('1')</script> & \"tea\"\0"
        let page: HTML = "<p title=\"\(memo)\">\(memo)</p>"
        let escaped = "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &amp; &quot;tea&quot;"
        #expect(page.source == "<p title=\"\(escaped)\">\(escaped)</p>")
        #expect(HTML(text: "a<b").source == "a&lt;b")
    }

    @Test("A fragment in a page stays markup, and a missing fragment is empty")
    func pieces() {
        let rows: [HTML] = ["<li>\(1)</li>", "<li>\("é<")</li>"]
        let none: HTML? = nil
        let list: HTML = "<ul>\(rows)</ul>\(none)"
        #expect(list.source == "<ul><li>1</li><li>é&lt;</li></ul>")
    }

    @Test("An asset's path contains a hash, and assets do not exceed their limits of size")
    func assets() throws {
        let tokens = try #require(Asset.all[Asset.tokens.path])
        #expect(tokens.path.wholeMatch(of: #//assets/tokens\.[0-9a-f]{16}\.css/#) != nil)
        #expect(tokens.type == "text/css; charset=utf-8")
        var size = 0
        for asset in Asset.all.values {
            #expect(asset.bytes.count <= 13_312, "\(asset.path)")
            size += asset.bytes.count
        }
        #expect(size <= 81_920)
    }

    @Test("A logo is recognised by its bytes and stays unchanged; another logo changes the build")
    func logos() throws {
        for (start, ending) in [
            ([0x89, 0x50, 0x4E, 0x47], "png"), ([0xFF, 0xD8, 0xFF], "jpg"),
            (Array("<svg".utf8), "svg"),
        ] as [([UInt8], String)] {
            let logo = try #require(Asset(logo: start + [0, 0xFF]))
            #expect(logo.bytes == start + [0, 0xFF] && logo.path.hasSuffix(".\(ending)"))
            let page = DisplayPage(.init(), logo: logo)
            #expect(page.html.source.contains("src=\"\(logo.path)\""))
            let other = DisplayPage(.init(), logo: Asset(logo: start + [1]))
            #expect(other.build != page.build)
        }
        #expect(Asset(logo: Array("GIF89a".utf8)) == nil && Asset(logo: []) == nil)
        #expect(Asset(logo: Array("<svg".utf8) + Array(repeating: 32, count: 512 * 1024)) == nil)
    }
}
