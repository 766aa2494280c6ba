import Foundation

// near bench TRIALS: the table of all scenarios, and if the aims are met.
// near play FILE: a recording through the decision.
// near model FOLDER: writes recordings of the model.

let arguments = CommandLine.arguments.dropFirst()
switch arguments.first {
case "bench":
    guard let trials = arguments.dropFirst().first.flatMap({ Int($0) }), trials >= 15 else {
        print("A number of trials is at least 15.")
        exit(64)
    }
    exit(bench(trials: trials) ? 0 : 1)
case "play" where arguments.count == 2: exit(play(arguments.last ?? ""))
case "model" where arguments.count == 2: exit(writeModel(into: arguments.last ?? ""))
default:
    print("usage: near bench TRIALS | near play FILE | near model FOLDER")
    exit(64)
}
