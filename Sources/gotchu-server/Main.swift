internal import ArgumentParser
internal import GotchuServer

@main
struct Main {
    static func main() async {
        await ServerCommand.main()
    }
}
