import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type AskableApi, CLIENT_APIS, yamlForAllApis } from "../support/client-apis.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { callAdmin } from "../support/management.ts";
import { type RecordingVendor, startRecordingVendor } from "../support/recording-vendor.ts";

let vendor: RecordingVendor;
let gateway: TestGateway;

beforeAll(async () => {
  vendor = startRecordingVendor();
  gateway = await startTestGateway({ yaml: yamlForAllApis(vendor.baseUrl) });
});

afterAll(async () => {
  await gateway.stop();
  await vendor.stop();
});

/** What a test adds to a request. */
interface Additions {
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly header?: string;
}

/** Sends a request, and returns the answer and the id of its generation. */
async function ask({ path, model, body }: AskableApi, { fields = {}, header }: Additions) {
  const response = await fetch(`${gateway.base}${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${gateway.key}`,
      "content-type": "application/json",
      ...(header === undefined ? {} : { "x-gateway-tags": header }),
    },
    body: JSON.stringify(body(model, fields)),
  });
  const text = await response.text();
  return { status: response.status, text, id: response.headers.get("x-gateway-generation-id") ?? "" };
}

async function readTags(id: string): Promise<unknown> {
  const { data } = await callAdmin(gateway, gateway.adminKey, "GET", `/generations/${id}`);
  return data["tags"];
}

describe("the tags of a request", () => {
  test.each(CLIENT_APIS)("to $name are recorded and not sent to the provider", async (api) => {
    vendor.reset();
    const tagged = await ask(api, { fields: { tags: ["nightly"] }, header: "team-a, job-7" });
    expect(await readTags(tagged.id)).toEqual(["team-a", "job-7", "nightly"]);
    const { text, headers } = vendor.last();
    expect(text).toContain("up-");
    for (const tag of ["team-a", "job-7", "nightly", '"tags"'])
      expect(text + JSON.stringify([...headers])).not.toContain(tag);

    const plain = await ask(api, {});
    expect(await readTags(plain.id)).toEqual([]);
  });

  test("leave the client's metadata as it is", async () => {
    vendor.reset();
    const [chat] = CLIENT_APIS as [AskableApi];
    const metadata = { tags: "a", team: "b" };
    const { id } = await ask(chat, { fields: { metadata, tags: ["c"] } });
    expect(JSON.parse(vendor.last().text).metadata).toEqual(metadata);
    expect(await readTags(id)).toEqual(["c"]);
  });

  test.each(CLIENT_APIS)("to $name are rejected in its own format if they are malformed", async (api) => {
    const { status, text } = await ask(api, { fields: { tags: ["a", "b,c"] } });
    expect(status).toBe(400);
    expect(api.readError(JSON.parse(text)).message).toStartWith(
      "tags[1] must be a text of 1 to 64 characters",
    );
    const inHeader = await ask(api, { header: "a, (b)" });
    expect(inHeader.status).toBe(400);
    expect(api.readError(JSON.parse(inHeader.text)).message).toStartWith("x-gateway-tags must be a text");
  });
});
