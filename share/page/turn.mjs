// SPDX-License-Identifier: MIT
// One turn: who, what and how it stands above, its timeline, what it costs below. Follows it live.
import { encoded, get, post, turnPath } from "./api.mjs";
import { Connection } from "./connection.mjs";
import { icon, make, setText, spinner } from "./dom.mjs";
import { moment, number, text } from "./format.mjs";
import { facts, isOver, look, setTaken, sign, title, word, worksOn } from "./state.mjs";
import { Stream } from "./stream.mjs";
import { Tail } from "./tail.mjs";
import { watch } from "./ticker.mjs";
import { Timeline } from "./timeline.mjs";
import { Usage } from "./usage.mjs";

export class TurnView {
  #turn;
  #stopped = false;
  #ended = false; // Its done has come.
  #stopping = false; // Asked for; nothing of it is left only when its done has come.
  #followed = false; // More may come: its stream is wanted while the page is seen.
  #look; // What becomes of the stream when the page is hidden, or seen again.
  #seen = 0; // Events at the last end of the stream.
  #events = 0;

  // app: { say(words), denied(), turns, show(turn) }
  constructor(id, app) {
    this.id = id;
    this.app = app;
    this.usage = new Usage();
    this.timeline = new Timeline({
      start: (payload) => this.#started(payload),
      usage: (payload) => this.usage.told(payload),
      say: (words) => !this.#catching && app.say(words),
      activity: (words) => setText(this.activity, words),
      drawn: () => this.#drawn(),
      done: () => this.#done(),
      mayAnswer: () => app.turns.may("answer"),
      decide: (request, body) => this.#decide(request, body),
    });
    this.#build();
    // A browser has six connections to a host, for all tabs together: one that is not seen takes none.
    this.#look = () => (document.hidden ? this.stream.stop() : this.#follow());
    document.addEventListener("visibilitychange", this.#look);
    this.stream = new Stream(turnPath(id, "/events"), {
      event: (told) => this.#told(told),
      state: (state, error) => this.#state(state, error),
      end: () => this.#streamEnded(),
    });
  }

  #build() {
    this.title = make("h1", { tabindex: "-1", dir: "auto" }, "…");
    this.sign = make("span");
    this.word = make("span.state-word");
    this.facts = make("span.facts");
    this.taken = make("span.taken");
    this.cancel = make("button.danger", { type: "button", hidden: true, click: () => this.#stop() });
    this.trouble = make("p.trouble", { role: "alert", hidden: true });
    this.prompt = make("div.prompt", { dir: "auto", hidden: true });
    this.activity = make("span.activity");
    this.connection = new Connection(() => this.stream.retry());
    this.next = make("div");
    this.content = make("div.content", {}, this.prompt, this.timeline.element, this.next);
    this.scroller = make("div.scroller", { tabindex: "0", role: "region", "aria-label": "Timeline" }, this.content);
    this.tail = new Tail(this.scroller, this.content);
    this.element = make("article.turn", {},
      make("header.turn-head", {},
        make("a.back", { href: "#/", "aria-label": "All turns" }, icon("back")),
        make("div.turn-title", {}, this.title,
          make("p.turn-facts", {}, this.sign, this.word, this.taken, this.facts)),
        this.cancel),
      this.trouble, this.scroller,
      make("div.pill-place", {}, this.tail.pill),
      make("footer.turn-foot", {}, this.connection.element, this.activity, this.usage.element));
  }

  async start() {
    try {
      const turn = await get(turnPath(this.id));
      if (this.#stopped) return;
      this.app.turns.put(turn);
      this.show(turn);
      this.#followed = turn.state !== "merged";
      if (this.#followed) this.#follow();
      else this.#merged(turn);
    } catch (error) {
      if (!this.#stopped) this.#refused(error);
    }
  }

  #follow() {
    if (this.#followed && !document.hidden) this.stream.start();
  }

  stop() {
    this.#stopped = true;
    document.removeEventListener("visibilitychange", this.#look);
    this.stream.stop();
    this.timeline.stop();
    this.tail.stop();
  }

  get #catching() {
    return !this.#turn || (this.timeline.seq < (number(this.#joined) ?? 0));
  }

  #joined; // The last event there was when it was opened: those before are not read out.

  show(turn) {
    const changed = !this.#turn || look(turn) !== look(this.#turn);
    this.#joined ??= turn.last_seq;
    this.#turn = turn;
    setText(this.title, title(turn, 200));
    if (!this.prompt.textContent) this.#showPrompt(turn.task);
    if (changed) this.sign.replaceChildren(sign(turn));
    setText(this.word, word(turn));
    this.facts.replaceChildren(...facts(turn));
    watch(this.taken, (time) => setTaken(this.taken, this.#turn, time));
    if (number(turn.created_ms)) this.word.title = moment(turn.created_ms);
    this.#showCancel();
    this.element.dataset.state = isOver(turn) ? "over" : "on";
    document.title = `${title(turn, 60)} · turncast`;
    this.#showLate(text(turn.late_result));
    this.showNext();
  }

  // What a host made of the turn that had counted as lost: no second outcome.
  #showLate(result) {
    if (!result || this.late) return;
    this.late = make("details.note", {},
      make("summary", {}, "The host that was lost has ended this turn later. Its result is not used."), result);
    this.content.append(this.late);
    this.app.say("The host that was lost has ended this turn later");
  }

  // What it stops: the turn, or the work behind one that is over.
  #showCancel() {
    const works = worksOn(this.#turn);
    const over = (isOver(this.#turn) || this.#ended) && !works && !this.#stopping;
    this.cancel.hidden = over || !this.app.turns.may("cancel");
    this.cancel.disabled = this.#stopping;
    if (this.#stopping) this.cancel.replaceChildren(spinner(), "Stopping…");
    else this.cancel.replaceChildren(icon("stop"), works ? "Stop background work" : "Stop");
  }

  // The turn in which the agent goes on behind this one.
  showNext() {
    const next = this.#turn && this.app.turns.next(this.#turn);
    if (!next || next.task || this.next.childElementCount) return;
    this.next.append(make("p.note", {}, "The agent started another turn by itself: ",
      make("a", { href: `#/turn/${encoded(next.id)}` }, "next turn")));
    this.app.say("The agent started another turn by itself");
  }

  #showPrompt(task) {
    const words = text(task);
    this.prompt.hidden = !words;
    setText(this.prompt, words);
  }

  #merged(turn) {
    this.connection.show("ended");
    this.#note("This message was merged into another turn: ",
      make("a", { href: `#/turn/${encoded(turn.into)}` }, "that turn"));
  }

  #note(...words) {
    this.content.append(make("p.note", {}, ...words));
  }

  #started(payload) {
    if (payload.task) this.#showPrompt(payload.task);
    this.usage.model(payload.model);
  }

  #told({ event, data }) {
    // The host ends before the turn does; the next one goes on with it.
    if (event === "shutdown") return;
    let told;
    try {
      told = JSON.parse(data);
    } catch {
      return;
    }
    this.#events++;
    if (event === "gap") this.timeline.gap(Number(told?.from), Number(told?.to));
    else this.timeline.push(told);
    if (told?.type === "done") this.#ended = true;
  }

  #drawn() {
    this.usage.flush();
    this.tail.grew();
  }

  // Nothing of it is left.
  #settle() {
    this.#stopping = false;
    if (this.#turn) this.#showCancel();
  }

  #done() {
    this.#settle();
    this.#followed = false;
    this.stream.stop();
    this.connection.show("ended");
    this.#refresh();
  }

  async #refresh() {
    const turn = await get(turnPath(this.id)).catch(() => undefined);
    if (turn && !this.#stopped) this.app.turns.put(turn);
  }

  #state(state, error) {
    if (state === "refused") this.#refused(error);
    else if (!this.#ended) this.connection.show(state);
  }

  // Over, when the turn is and nothing more came of it.
  async #streamEnded() {
    if (this.#ended) return true;
    await this.#refresh();
    const idle = this.#events === this.#seen;
    this.#seen = this.#events;
    if (!this.#turn || !isOver(this.#turn) || !idle) return false;
    this.#followed = false;
    this.connection.show("ended");
    this.#settle();
    this.show(this.#turn);
    return true;
  }

  #refused(error) {
    this.#followed = false;
    this.connection.show("ended");
    if (error.status === 401) this.app.denied();
    else if (error.status === 404 && this.#turn) this.#note("The events of this turn are no longer available.");
    else if (error.status === 404) this.#missing();
    else this.#tell(error.message);
  }

  #missing() {
    setText(this.title, "Unknown turn");
    this.#note("This turn does not exist or has been deleted. ", make("a", { href: "#/" }, "All turns"));
  }

  #tell(words) {
    this.trouble.hidden = !words;
    setText(this.trouble, words);
  }

  async #stop() {
    this.#stopping = true;
    this.#showCancel();
    this.app.say("Stopping");
    this.#tell("");
    try {
      const turn = await post(turnPath(this.id, "/cancel"));
      if (this.#ended) this.#settle(); // No other done comes.
      if (turn) this.app.turns.put(turn);
    } catch (error) {
      this.#settle();
      if (error.status === 401) this.app.denied();
      this.#tell(error.message);
      this.#refresh();
    }
  }

  async #decide(request, body) {
    try {
      return await post(turnPath(this.id, `/requests/${encoded(request)}`), body);
    } catch (error) {
      if (error.status === 401) this.app.denied();
      throw error;
    }
  }
}
