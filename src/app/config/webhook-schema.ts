import { z } from "zod";
import { isMetadataAddress } from "../../base/network/metadata-address.ts";
import { SECRET } from "../../core/settings/config-marks.ts";

/** The address of a server. */
export const baseUrl = z
  .url({ protocol: /^https?$/, error: "must be an http or https address" })
  .refine(
    (url) => !URL.canParse(url) || new URL(url).username === "",
    "must not contain a user name or password",
  )
  .refine(
    (url) => !URL.canParse(url) || !isMetadataAddress(new URL(url).hostname),
    "must not be the metadata service of a cloud",
  );

/** The address of a server to which texts or events are sent. Its path may be a secret, as that of chats is. */
export const secretUrl = baseUrl.meta({ [SECRET]: true });

/** The minimum length of a secret that signs webhooks. The payment webhook's secret authorizes adding credits. Characters. */
const WEBHOOK_SECRET_CHARS = 32;

/** A secret that signs webhooks. */
export const webhookSecret = z
  .string()
  .min(
    WEBHOOK_SECRET_CHARS,
    `must have at least ${WEBHOOK_SECRET_CHARS} characters; \`openssl rand -hex 32\` generates one`,
  )
  .meta({ [SECRET]: true });
