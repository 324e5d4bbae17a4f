import { z } from "zod";
import { priceTermsSchema } from "../records/model-schema.ts";
import { NO_REFRESH, type RefreshState } from "./catalog-store.ts";

const heldChangeSchema = z.object({
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

const refreshStateSchema = z.object({
  attemptedAt: z.number().nullable(),
  refreshedAt: z.number().nullable(),
  problem: z.string().nullable(),
  difference: z.array(z.string()),
  waiting: z.array(heldChangeSchema),
  rejected: z.array(heldChangeSchema),
});

/** Parses a stored state of refreshes. Returns `NO_REFRESH` for null and for a text that is damaged. */
export function parseRefreshState(text: string | null): RefreshState {
  if (text === null) return NO_REFRESH;
  try {
    const parsed = refreshStateSchema.safeParse(JSON.parse(text));
    return parsed.success ? (parsed.data as RefreshState) : NO_REFRESH;
  } catch {
    return NO_REFRESH;
  }
}
