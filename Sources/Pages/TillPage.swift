package import GotchuCore

/// The cashier's page of the till. It can be used with the keyboard alone.
package struct TillPage: Sendable {
    private let shop: String?
    private let moneyFormat: MoneyFormat

    /// - Parameters:
    ///   - shop: The shop's name; `nil` if none is configured.
    ///   - language: The display's language, which determines the format of amounts.
    package init(shop: String?, language: Language) {
        self.shop = shop
        moneyFormat = language.display.money
    }

    package var html: HTML {
        """
        <!doctype html>
        <html lang="en" data-decimal="\(String(moneyFormat.decimal))"
        data-group="\(String(moneyFormat.group))"
        data-sign="\(moneyFormat.isSymbolFirst ? "first" : "last")">
        <head>
        <meta charset="utf-8">
        <title>Till</title>
        <meta name="viewport" content="width=device-width">
        <link rel="icon" href="\(Asset.icon.path)">
        <link rel="stylesheet" href="\(Asset.tokens.path)">
        <link rel="stylesheet" href="\(Asset.till.path)">
        <script type="module" src="\(Asset.tillScript.path)"></script>
        </head>
        <body>
        <header class="top">
        <h1>\(shop ?? "Till") <span id="till-name"></span></h1>
        <p class="health" role="status"><span class="dot" id="dot" aria-hidden="true"></span>
        <span id="health">Connecting …</span></p>
        <button class="plain" id="open-report" disabled><kbd>F8</kbd> End of day</button>
        <button class="plain" id="open-help"><kbd>?</kbd> Keys</button>
        </header>
        \(pairing)
        \(sale)
        \(report)
        \(refund)
        \(help)
        </body>
        </html>
        """
    }

    private var pairing: HTML {
        """
        <main id="pairing" class="pairing" hidden>
        <h2>This till is not paired yet</h2>
        <p>Its code:</p>
        <p class="code" id="code" aria-live="polite">…</p>
        <p>Somebody who may approve it types on this machine:</p>
        <p><code id="pair-command">gotchu-ctl till pair</code></p>
        <p class="hint" id="pair-note">The code is good for two minutes; then a new one comes.</p>
        <p class="hint">With <code>--refunds 50.00/day</code> the till may refund, too.</p>
        </main>
        """
    }

    private var sale: HTML {
        """
        <main id="sale" hidden>
        <form class="pad" id="pad" autocomplete="off">
        <label class="visually-hidden" for="figure">Amount in US dollars</label>
        <input id="figure" class="figure" inputmode="none" readonly value="" \
        aria-describedby="hint">
        <p id="hint" class="hint">Type digits, <kbd>Enter</kbd> charges, <kbd>Esc</kbd> clears</p>
        <div class="keys" id="keys"></div>
        <label class="field">For what <input id="memo" maxlength="140"
        placeholder="shown to the customer"></label>
        <p class="problem" id="problem" role="alert" hidden></p>
        <button class="charge" id="charge" disabled><span id="charge-word">Charge</span>
        <b id="charge-amount"></b></button>
        </form>
        <section class="list" aria-labelledby="list-title">
        <h2 id="list-title">Requests</h2>
        <p class="hint" id="none" hidden>No requests yet. Type an amount and press Enter: the
        customer sees it, and its row here says when it is paid.</p>
        <ul id="rows" tabindex="0" aria-labelledby="list-title"></ul>
        </section>
        </main>
        """
    }

    private var report: HTML {
        """
        <dialog id="report" class="report" aria-labelledby="report-title">
        <h2 id="report-title">End of day</h2>
        <label class="field day">Day <input id="report-day" type="date"></label>
        <p class="problem" id="report-problem" role="alert" hidden></p>
        <div id="report-body" hidden>
        <dl class="sums" id="sums"></dl>
        <table><caption class="visually-hidden">By hour</caption><thead><tr>
        <th scope="col">Hour</th><th scope="col" class="n">Payments</th>
        <th scope="col" class="n">Taken</th><th scope="col" class="n">Refunded</th>
        <th scope="col" class="n">Kept</th></tr></thead><tbody id="hours"></tbody></table>
        <p class="hint" id="as-of"></p>
        <p class="unknown" id="unknown" hidden></p>
        </div>
        <form method="dialog" class="row"><button class="plain" autofocus>Close</button>
        <button type="button" class="plain" id="print">Print</button>
        <button type="button" class="primary" id="save">Save CSV</button></form>
        </dialog>
        """
    }

    private var refund: HTML {
        """
        <dialog id="refund" aria-labelledby="refund-title">
        <h2 id="refund-title">Refund?</h2>
        <p id="refund-what"></p>
        <form id="refund-form" autocomplete="off">
        <label class="field">Amount <input id="refund-amount" inputmode="decimal"></label>
        <label class="field">Why <input id="refund-why" maxlength="140"
        placeholder="for your records"></label>
        <p class="hint" id="refund-limit"></p>
        <p class="problem" id="refund-problem" role="alert" hidden></p>
        <div class="row"><button type="button" class="plain" id="keep" autofocus>Keep it</button>
        <button class="danger" id="refund-do">Refund <b id="refund-sum"></b></button></div>
        </form>
        </dialog>
        """
    }

    private var help: HTML {
        """
        <dialog id="help" aria-labelledby="help-title"><h2 id="help-title">Keys</h2>
        <dl class="help">
        <div><dt><kbd>0</kbd> – <kbd>9</kbd> <kbd>Backspace</kbd></dt><dd>Amount</dd></div>
        <div><dt><kbd>Enter</kbd></dt><dd>Charge</dd></div>
        <div><dt><kbd>M</kbd></dt><dd>For what; a barcode scanner writes there, too</dd></div>
        <div><dt><kbd>↑</kbd> <kbd>↓</kbd></dt><dd>Rows</dd></div>
        <div><dt><kbd>C</kbd></dt><dd>Cancel the row, or the newest that waits</dd></div>
        <div><dt><kbd>R</kbd></dt><dd>Refund the row</dd></div>
        <div><dt><kbd>F8</kbd></dt><dd>End of day</dd></div>
        <div><dt><kbd>Esc</kbd></dt><dd>Clear, or back</dd></div>
        </dl>
        <form method="dialog" class="row"><button class="plain" autofocus>Close</button></form>
        </dialog>
        """
    }
}
