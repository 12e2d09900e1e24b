// SPDX-License-Identifier: MIT
// The connection between a page and its host, which a test can cut.
import net from "node:net";

export class Wire {
  #sockets = new Set();
  #down = false;

  constructor(port) {
    this.server = net.createServer((near) => this.#join(near, port));
  }

  async listen() {
    await new Promise((resolve) => this.server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${this.server.address().port}/`;
  }

  #join(near, port) {
    if (this.#down) return near.destroy();
    const far = net.connect(port, "127.0.0.1");
    for (const [socket, other] of [[near, far], [far, near]]) {
      this.#sockets.add(socket);
      socket.on("error", () => other.destroy());
      socket.on("close", () => this.#sockets.delete(socket));
      socket.pipe(other);
    }
    return undefined;
  }

  // Everything that is open breaks, and nothing new comes through.
  cut() {
    this.#down = true;
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  mend() {
    this.#down = false;
  }

  close() {
    this.cut();
    this.server.close();
  }
}
