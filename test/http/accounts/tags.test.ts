import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type AskableApi, CLIENT_APIS, yamlForAllApis } from "../../support/clients/client-apis.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { callAdmin, createAccountTools } from "../../support/gateway/management.ts";
import { type RecordingVendor, startRecordingVendor } from "../../support/vendors/recording-vendor.ts";

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
  /** Default: the gateway's first key. */
  readonly key?: string;
}

/** Sends a request, and returns the answer and the id of its generation. */
async function ask({ path, model, body }: AskableApi, { fields = {}, header, key = gateway.key }: Additions) {
  const response = await fetch(`${gateway.base}${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
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

describe("lists and reports by tag", () => {
  const [chat] = CLIENT_APIS as [AskableApi];
  /** The generations of two accounts, of which the first has a management key. */
  let made: { readonly first: string; readonly both: string; readonly foreign: string };
  let managementKey: string;

  beforeAll(async () => {
    vendor.reset();
    const create = createAccountTools(gateway);
    const keys: string[] = [];
    for (const name of ["one", "two"]) {
      const account = await create.user(name);
      await callAdmin(gateway, gateway.adminKey, "POST", `/accounts/${account}/credits`, { amount: 1 });
      keys.push(await create.key(account));
      if (name === "one") managementKey = await create.key(account, { kind: "management" });
    }
    const [one, two] = keys;
    const askAs = async (key: string | undefined, tags: readonly string[]) =>
      (await ask(chat, { fields: { tags }, ...(key === undefined ? {} : { key }) })).id;
    made = {
      first: await askAs(one, ["report-a"]),
      both: await askAs(one, ["report-a", "report-b"]),
      foreign: await askAs(two, ["report-b"]),
    };
    await askAs(one, []);
  });

  const listIds = async (query: string, key = gateway.adminKey) =>
    (await callAdmin(gateway, key, "GET", `/generations?${query}`)).rows.map(({ id }) => id);
  const report = async (query: string, key = managementKey) =>
    (await callAdmin(gateway, key, "GET", `/usage?${query}`)).rows;

  test("the list of requests has those with a tag, of the accounts that the caller may see", async () => {
    // Requests of the same millisecond are in no particular order.
    expect((await listIds("tag=report-b")).toSorted()).toEqual([made.foreign, made.both].toSorted());
    expect(await listIds("tag=report-b", managementKey)).toEqual([made.both]);
    const [newest, ...others] = await listIds("tag=report-a&limit=1", managementKey);
    expect([made.first, made.both]).toContain(newest as string);
    expect(others).toEqual([]);
    expect(await listIds(`tag=report-a&id=${made.foreign}`)).toEqual([]);
    expect(await listIds("tag=(other)")).toEqual([]);
    const { body } = await callAdmin(
      gateway,
      managementKey,
      "GET",
      "/generations/histogram?tag=report-a&buckets=1",
    );
    expect(body["buckets"]).toMatchObject([{ completed: 2, failed: 0 }]);
    const { status } = await callAdmin(gateway, managementKey, "GET", `/generations?tag=${"x".repeat(65)}`);
    expect(status).toBe(400);
  });

  test("a usage report by tag counts a request for each of its tags, and has a line for requests without tags", async () => {
    const lines = await report("group_by=tag");
    const counts = lines.map(({ tag, requests }) => [tag, requests]);
    expect(Object.fromEntries(counts)).toEqual({ "report-a": 2, "report-b": 1, null: 1 });
    expect(lines[0]).toMatchObject({ latency_ms: null, duration_ms: null });
    expect(await report("group_by=day&tag=report-b")).toMatchObject([{ requests: 1 }]);
    expect(await report("group_by=day,tag&tag=report-b", gateway.adminKey)).toMatchObject([
      { tag: "report-b", requests: 2 },
    ]);
    expect(await report("group_by=model")).toMatchObject([{ requests: 3 }]);
  });

  test("a usage report by tag can be CSV", async () => {
    const response = await fetch(`${gateway.url}/api/admin/usage?group_by=tag&tag=report-b&format=csv`, {
      headers: { authorization: `Bearer ${managementKey}` },
    });
    const [head, line] = (await response.text()).split("\r\n");
    expect(head).toStartWith("tag,requests,errors");
    expect(line).toStartWith("report-b,1,0,");
  });
});
