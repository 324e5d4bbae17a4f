import { z } from "zod";
import { fail } from "../../../base/failures/errors.ts";
import { OPERATOR } from "../../api/access.ts";
import { defineEndpoint } from "../../api/endpoint.ts";

const TAG = "Webhooks";
const Index = z.int().min(0).describe("Position of the webhook in the configuration, from 0.");
const Origin = z.string().describe("Origin of its URL. The path is left out, because it may be a secret.");

/** `GET /api/admin/webhooks`: the configured webhooks and what waits for them. */
export const listWebhooks = defineEndpoint({
  method: "GET",
  path: "/api/admin/webhooks",
  tag: TAG,
  summary: "List the event webhooks, with the deliveries of the answering process",
  needs: "gateway",
  access: OPERATOR,
  response: z.object({
    data: z.array(
      z.object({
        index: Index,
        origin: Origin,
        format: z.enum(["json", "slack"]),
        events: z.array(z.string()).describe("Types of events that it receives."),
        waiting: z.int().describe("Number of waiting events, including the one in delivery."),
        delivered: z.int(),
        dropped: z
          .int()
          .describe("Number of dropped events: the queue was full, or the receiver did not accept them."),
        last_error: z
          .string()
          .nullable()
          .describe("Why the last try failed. `null` if it succeeded or there was none."),
      }),
    ),
  }),
  handle: ({ deps }) => ({
    data: deps.resources.webhooks.list().map(({ events, lastError, ...webhook }) => ({
      ...webhook,
      events: [...events],
      last_error: lastError,
    })),
  }),
});

/** `POST /api/admin/webhooks/test`: sends a test event. */
export const testWebhooks = defineEndpoint({
  method: "POST",
  path: "/api/admin/webhooks/test",
  tag: TAG,
  summary: "Send an event of the type webhook.test once, to all webhooks or to one",
  needs: "gateway",
  access: OPERATOR,
  body: z.strictObject({ index: Index.optional() }),
  response: z.object({
    data: z.array(
      z.object({
        index: Index,
        origin: Origin,
        event_id: z.string(),
        status: z.int().nullable().describe("Status of the response. `null` means there was none."),
        error: z.string().nullable().describe("Why the event was not accepted. `null` means it was."),
      }),
    ),
  }),
  async handle({ body, deps }) {
    const tried = await deps.resources.webhooks.test(body.index ?? null);
    if (tried.length === 0)
      fail(
        "not_found",
        body.index === undefined
          ? "No webhook is configured. Add one to `webhooks` of the configuration."
          : `There is no webhook ${body.index}. GET /api/admin/webhooks lists them.`,
      );
    return {
      data: tried.map(({ index, origin, eventId, status, error }) => ({
        index,
        origin,
        event_id: eventId,
        status,
        error,
      })),
    };
  },
});
