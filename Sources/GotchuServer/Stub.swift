import Hummingbird
import JWTKit

enum Stub {}
