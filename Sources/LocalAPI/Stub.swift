import AsyncHTTPClient
import Hummingbird

enum Stub {}
