// SPDX-License-Identifier: MIT
// The page: joins its parts and shows what the address names: #/ is the list, #/turn/ID a turn.
import { encoded, post } from "./api.mjs";
import { Composer } from "./composer.mjs";
import { Connection } from "./connection.mjs";
import { icon, make, setText } from "./dom.mjs";
import { oneLine } from "./format.mjs";
import { List } from "./list.mjs";
import { Login } from "./login.mjs";
import { TurnView } from "./turn.mjs";
import { Turns } from "./turns.mjs";

const [root, brand, side, main, said, skip] = [document.documentElement,
  ...["brand", "side", "main", "said", "skip"].map((id) => document.getElementById(id))];

class App {
  #view;
  #saying;

  constructor() {
    this.turns = new Turns({
      turn: (turn) => this.#told(turn),
      gone: (id) => this.list.drop(id),
      state: (state, error) => this.#state(state, error),
    });
    this.list = new List();
    this.login = new Login(() => {
      remember(true);
      this.start();
    });
    this.composer = new Composer({ sent: (turn) => this.#sent(turn), denied: () => this.denied() });
    this.connection = new Connection(() => this.turns.retry());
    this.leave = make("button.quiet", { type: "button", hidden: true, click: () => this.#leave() }, "Sign out");
    this.home = make("div.home", {}, icon("bolt"), make("p", {}, "Select a turn to see what the agent is doing."),
      make("p.keys", {}, make("kbd", {}, "↑"), " ", make("kbd", {}, "↓"), " to move, ", make("kbd", {}, "Enter"),
        " to open, ", make("kbd", {}, "Esc"), " to return to the list"));
    brand.append(this.connection.element, this.leave);
    side.append(this.list.element);
    main.after(this.composer.element);
    skip.addEventListener("click", () => main.focus());
    addEventListener("hashchange", () => this.#route(true));
    addEventListener("online", () => this.#again());
    addEventListener("keydown", (event) => this.#key(event));
  }

  async start() {
    try {
      await this.turns.load();
      root.dataset.signed = "in";
      this.leave.hidden = !remembered();
      this.composer.allow(this.turns.may("submit"), this.turns.agents);
      this.#route(false);
    } catch (error) {
      if (error.status === 401) this.denied();
      else this.#unreachable(error);
    }
  }

  #unreachable(error) {
    this.#replace(make("div.home", {}, make("p", { role: "alert" }, error.message),
      make("button.primary", { type: "button", click: () => this.start() }, "Try again")));
    root.dataset.view = "turn";
  }

  // The host wants a key, or no longer takes the one it had.
  denied() {
    this.turns.forget();
    this.connection.show("ended");
    root.dataset.signed = "out";
    root.dataset.view = "turn";
    this.#replace(this.login.element);
    this.login.focus();
  }

  async #leave() {
    await post("logout").catch(() => undefined);
    remember(false);
    this.denied();
  }

  say(words) {
    if (!words) return;
    clearTimeout(this.#saying);
    this.#saying = setTimeout(() => setText(said, oneLine(words, 600)), 300);
  }

  #told(turn) {
    this.list.put(turn);
    if (this.#view?.id !== turn.id) {
      this.#view?.showNext();
      return;
    }
    this.#view.show(turn);
    this.composer.follow(turn);
  }

  #state(state, error) {
    this.connection.show(state);
    if (state === "refused" && error.status === 401) this.denied();
  }

  #again() {
    this.turns.retry();
    this.#view?.stream?.retry();
  }

  #sent(turn) {
    this.turns.put(turn);
    location.hash = `#/turn/${encoded(turn.id)}`;
  }

  #replace(element) {
    this.#view?.stop();
    this.#view = undefined;
    main.replaceChildren(element);
  }

  #route(moved) {
    if (root.dataset.signed !== "in") return;
    const found = /^#\/turn\/([^/]+)$/.exec(location.hash);
    if (found) this.#open(decode(found[1]), moved);
    else this.#list(moved);
  }

  #open(id, moved) {
    root.dataset.view = "turn";
    this.#replace("");
    this.#view = new TurnView(id, this);
    main.replaceChildren(this.#view.element);
    this.composer.follow(this.turns.get(id));
    this.list.mark(id);
    this.#view.start();
    // Beside the list, the focus stays in it.
    if (moved && getComputedStyle(side).display === "none") this.#view.title.focus();
  }

  #list(moved) {
    root.dataset.view = "list";
    this.#replace(this.home);
    this.composer.follow(undefined);
    document.title = "turncast";
    if (moved) this.list.focus();
    this.list.mark(undefined);
  }

  #key(event) {
    if (event.key !== "Escape" || event.defaultPrevented || root.dataset.signed !== "in") return;
    if (getComputedStyle(side).display === "none") location.hash = "#/";
    else this.list.focus();
  }
}

// Whether this browser has signed in, which its cookie does not tell: only then it can sign out.
function remembered() {
  return localStorage.getItem("turncast") === "signed in";
}

function remember(signedIn) {
  if (signedIn) localStorage.setItem("turncast", "signed in");
  else localStorage.removeItem("turncast");
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

new App().start();
