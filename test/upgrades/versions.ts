import type { StoreKind } from "./installation.ts";

/** An earlier version of the gateway from which upgrades are tested. */
export interface EarlierVersion {
  /** Names it in the output. */
  readonly name: string;
  /** The commit or tag that has its code. */
  readonly ref: string;
  /** The databases that it has. */
  readonly stores: readonly StoreKind[];
  /** Whether it has `gateway backup` and `gateway doctor`. Without, a copy of its data directory is its backup. */
  readonly hasBackup: boolean;
  /** Whether it works on a SQLite file of this version: no step since then needs a newer one. */
  readonly sharesFile: boolean;
}

/** The name of the builds of 0.1.0 with the first PostgreSQL stores. */
export const FIRST_POSTGRES = "first PostgreSQL stores";

/** All earlier versions that people may have installed, including the last release. */
export const EARLIER_VERSIONS: readonly EarlierVersion[] = [
  {
    name: "0.1.0",
    ref: "bed2bfbf3d75ed379471622126bc8715e70338c8",
    stores: ["sqlite"],
    hasBackup: false,
    sharesFile: false,
  },
  {
    name: FIRST_POSTGRES,
    ref: "54bd870e120ff7f4c3b8df64c1a339363d671b9d",
    stores: ["sqlite", "postgres"],
    hasBackup: true,
    sharesFile: false,
  },
  {
    name: "0.2.0",
    ref: "10edea99b11bca7bcac610a7ba18edecf482d27e",
    stores: ["sqlite", "postgres"],
    hasBackup: true,
    sharesFile: true,
  },
];
