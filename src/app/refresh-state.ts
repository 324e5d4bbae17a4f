import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { HeldChange } from "../core/catalog/merge-refresh.ts";
import { priceTermsSchema } from "../core/catalog/validate-catalog.ts";
import { writeWhole } from "./write-whole.ts";

/** File of the data directory that says what the last refresh came to and which changes wait. */
export const REFRESH_FILE = "catalog-refresh.json";

/** What is kept between refreshes. Times in milliseconds since the epoch. */
export interface RefreshState {
  readonly attemptedAt: number | null;
  /** When the source was last read and found sound. */
  readonly refreshedAt: number | null;
  /** Why the last attempt changed nothing. */
  readonly problem: string | null;
  /** What the last refresh changed, a line each. */
  readonly difference: readonly string[];
  readonly waiting: readonly HeldChange[];
  readonly rejected: readonly HeldChange[];
}

const EMPTY: RefreshState = {
  attemptedAt: null,
  refreshedAt: null,
  problem: null,
  difference: [],
  waiting: [],
  rejected: [],
};

const heldSchema = z.object({
  id: z.string(),
  model: z.string(),
  provider: z.string(),
  name: z.string(),
  before: priceTermsSchema,
  after: priceTermsSchema,
  jumps: z.array(
    z.object({
      kind: z.string(),
      before: z.string().nullable(),
      after: z.string().nullable(),
      minPromptTokens: z.int().optional(),
      from: z.string().optional(),
    }),
  ),
  seenAt: z.number(),
});

const stateSchema = z.object({
  attemptedAt: z.number().nullable(),
  refreshedAt: z.number().nullable(),
  problem: z.string().nullable(),
  difference: z.array(z.string()),
  waiting: z.array(heldSchema),
  rejected: z.array(heldSchema),
});

/**
 * Reads what is kept. Where there is nothing, or nothing that can be read, that counts as nothing: the next refresh holds the
 * same changes again, since their old prices are in force.
 */
export function readRefreshState(dataDirectory: string): RefreshState {
  try {
    const json: unknown = JSON.parse(readFileSync(join(dataDirectory, REFRESH_FILE), "utf8"));
    const parsed = stateSchema.safeParse(json);
    return parsed.success ? (parsed.data as RefreshState) : EMPTY;
  } catch {
    return EMPTY;
  }
}

/** Keeps it. */
export function writeRefreshState(dataDirectory: string, state: RefreshState): void {
  writeWhole(join(dataDirectory, REFRESH_FILE), `${JSON.stringify(state, null, 2)}\n`);
}
