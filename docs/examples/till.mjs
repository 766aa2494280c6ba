// node till.mjs CENTS [MEMO]: requests a payment through gotchud and waits until it is paid.
//
// Ctrl-C cancels the request. Ends with 0 if it was paid, with 1 if not, or if gotchud is away for a minute: then
// the request may still be paid, which `gotchu-ctl history` tells. An example with the standard library alone: copy
// what you need.

import { randomUUID } from 'node:crypto'
import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

const socketPath = process.env.GOTCHU_SOCKET ?? '/run/gotchu/gotchud.sock'
const final = ['paid', 'expired', 'cancelled']

/** gotchud said no: a problem document, with a `code` for programs and a `detail` for people. */
class Refused extends Error {
  constructor(problem) {
    super(`${problem.code}: ${problem.detail}`)
    this.problem = problem
  }
}

/** Makes one call over gotchud's Unix socket. */
function exchange(method, path, body, headers) {
  return new Promise((resolve, reject) => {
    const request = http.request({ socketPath, path, method, headers, timeout: 30_000 }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part) => (text += part))
      response.on('error', reject)
      response.on('end', () => {
        try {
          resolve({ status: response.statusCode, reply: JSON.parse(text) })
        } catch (error) {
          reject(error)
        }
      })
    })
    request.on('timeout', () => request.destroy(new Error('no answer in time')))
    request.on('error', reject)
    request.end(body)
  })
}

/** Makes a call, and makes the same one again while there is no answer: a lost one says nothing. */
async function call(method, path, { body, key } = {}) {
  const headers = { Host: 'gotchu', 'Content-Type': 'application/json' }
  // What makes the repeat of a call harmless: gotchud knows that it is the same wish.
  if (key) headers['Idempotency-Key'] = key
  const end = performance.now() + 60_000
  for (;;) {
    try {
      const { status, reply } = await exchange(method, path, body && JSON.stringify(body), headers)
      if (status < 400) return reply
      if (![429, 503].includes(status) || performance.now() > end) throw new Refused(reply)
    } catch (error) {
      if (error instanceof Refused || performance.now() > end) throw error
    }
    await sleep(1000)
  }
}

const cents = Number(process.argv[2])
if (!Number.isSafeInteger(cents)) throw new Error('the amount is a whole number of cents')
let isStopped = false
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => (isStopped = true))

const wish = { amount_cents: cents, memo: process.argv[3] }
let request = await call('POST', '/v1/requests', { body: wish, key: randomUUID() })
const path = `/v1/requests/${request.id}`
console.log(`${request.eid}: waiting for ${cents} cents, Ctrl-C cancels it`)

let isCancelled = false
while (!final.includes(request.state)) {
  await sleep(1000)
  if (isStopped && !isCancelled) {
    isCancelled = true
    try {
      await call('DELETE', path)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      console.log(error.message) // A payer holds it: how it ends is seen below.
    }
  }
  request = await call('GET', path)
}
// Goods are handed out for this word alone.
console.log(request.state)
process.exitCode = request.state === 'paid' ? 0 : 1
