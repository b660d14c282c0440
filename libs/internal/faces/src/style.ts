/** The one style sheet of the small pages; it is inlined, and the content security policy names its hash. */
export const STYLE = `
:root { color-scheme: light dark; --ink: #1c2430; --quiet: #5b6675; --paper: #f4f5f7; --card: #fff; --line: #d9dee5; --accent: #1d4ed8; --on-accent: #fff; --bad: #b42318; --good: #0f7038; --mark: #fde68a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ecf2; --quiet: #a3adba; --paper: #12161c; --card: #1b2129; --line: #323b47; --accent: #8ab4ff; --on-accent: #0b1a38; --bad: #ffa198; --good: #7ee2a8; --mark: #5c4a0a; } }
* { box-sizing: border-box; }
body { margin: 0; padding: 2rem 1rem; background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
header, main { max-width: 28rem; margin: 0 auto; }
main:has(pre), header:has(+ main pre) { max-width: 56rem; }
header { padding: 0 .25rem 1rem; font-weight: 600; }
main { padding: 1.75rem; background: var(--card); border: 1px solid var(--line); border-radius: .75rem; box-shadow: 0 1px 2px rgb(0 0 0 / .06), 0 8px 24px rgb(0 0 0 / .06); }
.mark { padding: .1rem .5rem; border-radius: .4rem; background: var(--accent); color: var(--on-accent); }
.quiet { color: var(--quiet); font-weight: 400; font-size: .9rem; }
header .quiet { margin-left: .35rem; }
h1 { margin: 0 0 .6rem; font-size: 1.35rem; line-height: 1.25; }
h2 { margin: 1.5rem 0 .5rem; font-size: 1rem; }
p { margin: .25rem 0 1.25rem; }
a { color: var(--accent); }
pre { margin: 0; padding: .75rem; border: 1px solid var(--line); border-radius: .5rem; white-space: pre-wrap; overflow-wrap: anywhere; }
pre code { font-size: .85rem; }
p:last-child { margin-bottom: 0; }
ul { margin: 0 0 1.5rem; padding: 0; list-style: none; }
code { font: .95em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.members { margin: 0; }
.members li + li { margin-top: .6rem; }
.scopes li { padding: .5rem 0; border-top: 1px solid var(--line); }
.scopes li:last-child { border-bottom: 1px solid var(--line); }
.scopes .quiet { display: block; }
.problem { padding: .6rem .8rem; border-left: 3px solid var(--bad); color: var(--bad); }
button, input, select, textarea { width: 100%; padding: .7rem 1rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--card); color: inherit; font: inherit; }
select { appearance: base-select; white-space: normal; text-overflow: ellipsis; }
button { cursor: pointer; text-align: left; }
button:hover { border-color: var(--accent); }
button:focus-visible, input:focus-visible, select:focus-visible, textarea:focus-visible, a:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
button strong { display: block; }
.actions { display: flex; gap: .75rem; }
.actions button { text-align: center; font-weight: 600; }
.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
label { display: block; margin-bottom: .35rem; font-weight: 600; }
input { margin-bottom: 1rem; }
.code { display: block; margin: 0 0 1.25rem; padding: .75rem; border: 1px solid var(--line); border-radius: .5rem; text-align: center; letter-spacing: .12em; font: 600 1.6rem/1.3 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.code-input { letter-spacing: .12em; text-transform: uppercase; font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
[hidden] { display: none; }
.choices { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(15rem, 100%), 1fr)); gap: .6rem; }
form > p { margin: 0 0 1rem; }
form > p input, textarea { display: block; margin: 0; }
textarea, form > p input { font: .9rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
textarea { resize: vertical; }
[aria-disabled=true] { opacity: .6; cursor: progress; }
.way { margin: 1rem 0 0; padding: 0; list-style: none; }
.way li { position: relative; margin-left: .4rem; padding: 0 0 1.1rem 1.4rem; border-left: 2px solid var(--line); overflow-wrap: anywhere; }
.way li:last-child { padding-bottom: 0; }
.way li::before { content: ""; position: absolute; left: -.45rem; top: .35rem; width: .75rem; height: .75rem; border-radius: 50%; background: var(--accent); }
.way h3 { margin: 0; font-size: 1rem; }
.way code { display: block; padding: .3rem 0; white-space: pre-wrap; font-size: .85rem; }
.rule { display: block; margin-top: .25rem; }
.good { color: var(--good); }
.bad { color: var(--bad); }
.good::before { content: "\\2713  Accepted: " / "Accepted: "; }
.bad::before { content: "\\2717  Refused: " / "Refused: "; }
.way li:has(.good) { border-color: var(--good); }
.way li:has(.bad) { border-color: var(--bad); border-left-style: dashed; }
.way li:has(.good)::before { background: var(--good); }
.way li:has(.bad)::before { background: var(--bad); border-radius: 0; }
mark { display: block; width: fit-content; padding: 0 .25rem; border-radius: .2rem; background: var(--mark); color: inherit; }
main:has(.reference), header:has(+ main .reference) { max-width: 84rem; }
.reference { overflow-wrap: anywhere; }
.reference section { padding: .5rem 0 1rem; border-bottom: 1px solid var(--line); }
.reference h2 { margin-top: 2.5rem; font-size: 1.25rem; }
.reference h3 { margin: 1.5rem 0 .25rem; font-size: 1.05rem; }
.reference h4 { margin: 1rem 0 .25rem; }
.reference ul, .reference p, .reference pre { margin: .4rem 0; }
.reference li { padding: .3rem 0; }
.reference li p { margin: 0; }
.reference div li { padding-left: .8rem; border-left: 2px solid var(--line); }
.reference details { margin: .4rem 0; }
.reference nav a { text-decoration: none; }
.reference nav a:hover { text-decoration: underline; }
.reference nav ul { padding-left: 1.1rem; }
.copy { display: block; width: auto; margin: .4rem 0 -.4rem auto; padding: .15rem .6rem; font-size: .85rem; }
.reference nav { margin-bottom: 1.5rem; }
.reference nav input { margin: 0; padding: .4rem .6rem; }
.reference table { border-collapse: collapse; }
.reference th, .reference td { padding: .4rem .8rem .4rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; overflow-wrap: break-word; }
summary { cursor: pointer; }
summary:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
@media (min-width: 60rem) { .reference { display: grid; grid-template-columns: 16rem minmax(0, 1fr); gap: 2rem; } .reference nav { position: sticky; top: 1rem; align-self: start; max-height: calc(100vh - 2rem); overflow: auto; } }
`;
