"use strict";
import { open as openDoor, close } from "./doors";
import events from 'events';
export * from "./sizes.js";

const bus = require("./bus");
const LIMIT = 12;
let count = 0;

/**
 * A locker with cells.
 */
export class Locker extends events.EventEmitter {
  static built = 0;
  #cells = [];

  constructor(size) {
    super();
    this.size = size;
  }

  /** Whether a cell is free. */
  get isFree() {
    return this.#cells.length < this.size;
  }

  async *walk() {
    const step = () => 1;
    yield step();
  }
}

// Finds a locker.
export const find = async (id) => {
  function matches(locker) {
    return locker.id === id;
  }
  return bus.lockers.find(matches);
};

function* hidden(a, b) {
  const local = a;
  yield local;
}

Locker.prototype.empty = function () {
  this.count = 0;
};
module.exports.reset = function reset() {};

const handlers = {
  onOpen(event) {
    return event;
  },
  onClose: (event) => event,
  name: "handlers",
};

describe("lockers", () => {
  function inTest() {}
  it("works", () => inTest());
});

export default function main() {
  return import("./late.js");
}
