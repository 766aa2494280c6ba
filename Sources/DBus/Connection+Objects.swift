import CDBus
import Logging

extension Connection {
    /// Exports an object on the bus under a path, replacing any that was there.
    package func export(_ object: ExportedObject, at path: ObjectPath) throws(DBusError) {
        guard wire != nil else { throw DBusError(.closed) }
        for (name, interface) in object.interfaces {
            try NameValidator.check(bus: nil, interface: name, member: nil)
            for member in [String](interface.methods.keys) + interface.properties.keys {
                try NameValidator.check(bus: nil, interface: nil, member: member)
            }
        }
        objects[path] = object
    }

    /// Removes an object from the bus.
    package func unexport(_ path: ObjectPath) {
        objects[path] = nil
    }

    /// Answers a call to one of our objects.
    func receiveCall(_ message: borrowing Message) {
        guard let path = message.path, let member = message.member else { return }
        do {
            let invocation = Invocation(
                sender: message.sender,
                path: path,
                interface: message.interface ?? "",
                member: member,
                arguments: try arguments(of: message)
            )
            switch try Dispatcher(objects: objects).answer(invocation) {
            case .values(let values): reply(to: message, .success(values))
            case .method(let method, let invocation): try serve(method, invocation, message)
            }
        } catch {
            reply(to: message, .failure(error))
        }
    }

    private func arguments(
        of message: borrowing Message
    ) throws(MethodFailure) -> [Value] {
        do {
            return try message.values()
        } catch {
            throw .standard("LimitsExceeded", "The arguments are too large.")
        }
    }

    /// Runs a method's handler in a task of its own: a slow handler must not delay the connection.
    private func serve(
        _ method: ExportedObject.Method,
        _ invocation: Invocation,
        _ message: borrowing Message
    ) throws(MethodFailure) {
        guard inboundCalls.count < limits.inboundCalls else {
            throw .standard("LimitsExceeded", "Too many calls are being answered.")
        }
        let id = makeID()
        // SAFETY: owned by `inboundCalls`; it ends by itself or is cancelled with the connection.
        let task = Task { [weak self] in
            let result: Result<[Value], MethodFailure>
            do throws(MethodFailure) {
                result = .success(try await method.handle(invocation))
            } catch {
                result = .failure(error)
            }
            await self?.finish(id, method, result)
        }
        inboundCalls[id] = InboundCall(request: SharedMessage(message), task: task)
    }

    private func finish(
        _ id: UInt64,
        _ method: ExportedObject.Method,
        _ result: Result<[Value], MethodFailure>
    ) {
        // The connection may have ended meanwhile.
        guard let serving = inboundCalls.removeValue(forKey: id) else { return }
        var result = result
        if case .success(let values) = result,
            values.map(\.signature.text).joined() != method.output.text
        {
            result = .failure(.failed("The method answered with other types than it promised."))
        }
        reply(to: serving.request.message, result)
    }

    private func reply(
        to message: borrowing Message,
        _ result: Result<[Value], MethodFailure>
    ) {
        guard message.wantsReply else { return }
        do {
            switch result {
            case .success(let values): _ = try send(Message.reply(to: message, values))
            case .failure(let failure): _ = try send(Message.errorReply(to: message, failure))
            }
        } catch {
            // The caller notices it only by its own timeout.
            logger.debug("a reply was not sent", metadata: ["error": "\(error.code.rawValue)"])
        }
    }
}

/// A call to one of our objects that is being answered.
struct InboundCall {
    let request: SharedMessage
    let task: Task<Void, Never>
}

/// A message that is kept until it is answered. Never leaves the connection's actor.
final class SharedMessage {
    let message: Message

    init(_ message: borrowing Message) {
        dbus_message_ref(message.raw)
        self.message = Message(adopting: message.raw)
    }
}
