import GotchuCommands

@main
struct Main {
    static func main() async {
        await GotchuCtl.main()
    }
}
