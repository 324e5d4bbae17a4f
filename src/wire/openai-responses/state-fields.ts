import { fail } from "../../base/failures/errors.ts";

/** The fields that ask for stored responses, which the gateway does not keep, with the remedy for each. */
const REMEDIES: Readonly<Record<string, string>> = {
  store: "must be false or left out: responses are not stored here. Send the whole conversation in input",
  previous_response_id:
    "is not supported: responses are not stored here. Send the whole conversation in input",
  conversation: "is not supported: conversations are not stored here. Send the whole conversation in input",
  background:
    "must be false or left out: responses are not kept here to be fetched later. Use stream instead",
};

export const STATE_FIELDS: readonly string[] = Object.keys(REMEDIES);

/**
 * Rejects a field that asks for stored responses (docs/api/responses.md).
 * @throws GatewayError `invalid_request`.
 */
export function rejectState(field: string): never {
  return fail("invalid_request", `${field} ${REMEDIES[field]}.`, { metadata: { field } });
}
