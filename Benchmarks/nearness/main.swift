import Foundation

// near bench [--trials NUMBER]: the table of all scenarios, and if the aims are met.
// near play FILE: a recording through the decision.
// near model FOLDER: writes recordings of the model.

let arguments = CommandLine.arguments.dropFirst()
switch arguments.first {
case "bench":
    let trials = arguments.dropFirst(2).first.flatMap { Int($0) } ?? 1_500
    exit(bench(trials: trials) ? 0 : 1)
case "play" where arguments.count == 2: exit(play(arguments.last ?? ""))
case "model" where arguments.count == 2: exit(writeModel(into: arguments.last ?? ""))
default:
    print("usage: near bench [--trials NUMBER] | near play FILE | near model FOLDER")
    exit(64)
}
