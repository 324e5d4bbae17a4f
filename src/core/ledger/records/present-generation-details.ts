import { formatTime } from "../../../base/time/time.ts";
import type { Names } from "../../accounts/stores/find-names.ts";
import { presentGeneration } from "../../usage/generations/present-generation.ts";
import type { UsageRecord } from "../../usage/records/records.ts";
import type { LedgerStore, StoredTransfer } from "./ledger-store.ts";
import { presentEntry } from "./present-entry.ts";

/** Refunds of a generation that are shown. */
const SHOWN_REFUNDS = 100;

/** What is known about a generation in addition to its record. */
interface GenerationFacts {
  readonly names: Names;
  readonly transfers: readonly StoredTransfer[];
  /** The bodies of request and response are stored. */
  readonly hasBodies: boolean;
  /** The response is kept. */
  readonly hasResponse: boolean;
  /** The operator asks, who may see everything that providers have answered. */
  readonly isForOperator: boolean;
}

/** Returns the transfers of a generation: its charge, then its refunds. */
export async function findTransfersOf(
  store: Pick<LedgerStore, "findTransfer" | "listRefunds">,
  generationId: string,
): Promise<readonly StoredTransfer[]> {
  const charge = await store.findTransfer(generationId);
  return charge === null ? [] : [charge, ...(await store.listRefunds(generationId, SHOWN_REFUNDS))];
}

/** Makes the view of a generation for who manages its account. */
export function presentGenerationDetails(
  record: UsageRecord,
  { names, transfers, hasBodies, hasResponse, isForOperator }: GenerationFacts,
): Record<string, unknown> {
  const { accountId, keyId, userId, teamId = null, createdAt, firstTokenAt, finishedAt } = record;
  return {
    ...presentGeneration(record, { isForOperator }),
    account: accountId === null ? null : { id: accountId, name: names.account(accountId) },
    key: keyId === null ? null : { id: keyId, name: names.key(keyId) },
    user: userId === null ? null : { id: userId, name: names.account(userId) },
    team: teamId === null ? null : { id: teamId, name: names.team(teamId) },
    first_token_at: formatTime(firstTokenAt),
    finished_at: formatTime(finishedAt),
    duration: finishedAt === null ? null : finishedAt - createdAt,
    held_nanodollars: record.heldNanodollars ?? 0,
    has_bodies: hasBodies,
    has_response: hasResponse,
    transfers: transfers.map((transfer) => presentEntry(transfer, accountId ?? transfer.from)),
  };
}
