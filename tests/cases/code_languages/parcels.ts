import type { Door } from "./doors";
import fs = require("fs");

/** Sizes of cells. */
export enum Size {
  Small = 1,
  Large,
}

export interface Parcel {
  /** Number on the label. */
  readonly id: string;
  weigh(scale: Scale): number;
}

type Weight = number | null;

@Controller("parcels")
export class ParcelService<T extends Parcel> implements Service {
  private readonly store: Map<string, T> = new Map();

  constructor(private readonly door: Door) {}

  @Get(":id")
  protected async show(id: string): Promise<T | undefined> {
    return this.store.get(id);
  }

  static parse = (text: string): Parcel => JSON.parse(text);
}

abstract class Base {
  abstract close(): void;
}

function load(id: string): Parcel;
function load(id: number): Parcel;
function load(id: unknown): Parcel {
  return { id: String(id), weigh: () => 1 };
}

declare module "labels" {
  export function print(parcel: Parcel): void;
}

namespace Routes {
  export const HOME = "/";
}

export { load as loadParcel, Base };
