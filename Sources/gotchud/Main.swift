import ArgumentParser
import GotchuDaemon

@main
struct Main {
    static func main() async {
        await GotchudCommand.main()
    }
}
