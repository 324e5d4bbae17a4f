import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { DEFAULT_BOUNDS } from "../../src/providers/http1/bounds.ts";
import { ResponseParser } from "../../src/providers/http1/response-parser.ts";

/** The result of parsing a whole input. */
interface Outcome {
  status: number | null;
  headers: (string | null)[];
  body: string;
  /** The state at the end of the input. */
  end: "ended" | "surplus" | "in-head" | "in-body" | "refused";
}

type Method = "GET" | "POST" | "HEAD";

const ASKED_HEADERS = ["content-type", "x-a", "x-b", "content-length"];

function parsePieces(
  pieces: readonly Uint8Array[],
  method: Method = "GET",
  bounds = DEFAULT_BOUNDS,
): Outcome {
  const parser = new ResponseParser(method, bounds);
  const outcome: Outcome = { status: null, headers: [], body: "", end: "in-head" };
  let askHeader: ((name: string) => string | null) | null = null;
  for (const piece of pieces) {
    // A copy, because the parser may change its input.
    const bytes = new Uint8Array(piece);
    parser.feed(bytes);
    const { head, bodyAt, bodyEnd, error, hasSurplus } = parser;
    if (head !== null) {
      outcome.status = head.status;
      askHeader = (name) => head.header(name);
    }
    outcome.body += Buffer.from(bytes.slice(bodyAt, bodyEnd)).toString("latin1");
    if (error !== null) outcome.end = "refused";
    else if (hasSurplus) outcome.end = "surplus";
    if (error !== null || hasSurplus) break;
  }
  if (outcome.end === "in-head") outcome.end = parser.finish();
  // Read last, because a head must not change while its body is read.
  if (askHeader !== null) outcome.headers = ASKED_HEADERS.map(askHeader);
  return outcome;
}

function parse(text: string, method?: Method, bounds?: typeof DEFAULT_BOUNDS): Outcome {
  return parsePieces([Buffer.from(text, "latin1")], method, bounds);
}

/** Splits bytes at positions in thousandths of their length. */
function cutAt(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const places = [...new Set(cuts.map((cut) => Math.floor((cut * bytes.length) / 1000)))].sort(
    (a, b) => a - b,
  );
  const pieces: Uint8Array[] = [];
  let from = 0;
  for (const to of [...places, bytes.length]) {
    if (to > from) pieces.push(bytes.subarray(from, to));
    from = Math.max(from, to);
  }
  return pieces;
}

const latin1 = (codes: readonly number[]): string => String.fromCharCode(...codes);
const byte = fc.integer({ min: 0, max: 255 });
const text = fc.array(fc.integer({ min: 32, max: 126 }), { maxLength: 30 }).map(latin1);
const body = fc.array(byte, { maxLength: 300 }).map(latin1);
const cuts = fc.array(fc.integer({ min: 0, max: 1000 }), { maxLength: 12 });

const interim = fc.constantFrom(
  "",
  "HTTP/1.1 100 Continue\r\n\r\n",
  "HTTP/1.1 103 Early\r\nx-a: early\r\n\r\n",
);
const fields = fc
  .array(fc.tuple(fc.constantFrom("X-A", "x-b", "Content-Type", "x-other"), text), { maxLength: 6 })
  .map((all) => all.map(([name, value]) => `${name}: ${value}\r\n`).join(""));

const chunked = fc
  .tuple(body, fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 8 }), fc.boolean())
  .map(([content, sizes, adorned]) => {
    let encoded = "";
    for (let at = 0, i = 0; at < content.length; i++) {
      const part = content.slice(at, at + sizes[i % sizes.length]!);
      encoded += `${part.length.toString(16)}${adorned ? ' ;a="b"' : ""}\r\n${part}\r\n`;
      at += part.length;
    }
    return { content, wire: `${encoded}0\r\n${adorned ? "x-trailer: 1\r\n" : ""}\r\n` };
  });

const framed = fc.oneof(
  body.map((content) => ({ content, wire: `content-length: ${content.length}\r\n\r\n${content}` })),
  body.map((content) => ({ content, wire: `\r\n${content}` })),
  chunked.map(({ content, wire }) => ({ content, wire: `Transfer-Encoding: Chunked\r\n\r\n${wire}` })),
);

const answer = fc.tuple(interim, text, fields, framed).map(([early, reason, lines, { content, wire }]) => ({
  content,
  bytes: Buffer.from(`${early}HTTP/1.1 200 ${reason}\r\n${lines}${wire}`, "latin1"),
}));

/** Returns an answer with a few bytes replaced, removed or doubled. */
const mutated = fc
  .tuple(
    answer,
    fc.array(fc.tuple(fc.nat(), fc.constantFrom("set", "drop", "double"), byte), { maxLength: 4 }),
  )
  .map(([{ bytes }, changes]) => {
    const codes = [...bytes];
    for (const [place, what, value] of changes) {
      const at = place % Math.max(1, codes.length);
      if (what === "set") codes[at] = value;
      else codes.splice(at, what === "drop" ? 1 : 0, ...(what === "double" ? codes.slice(at, at + 3) : []));
    }
    return Uint8Array.from(codes);
  });

describe("http1 answer parser: split input", () => {
  test("A valid answer has the same result however it is split.", () => {
    fc.assert(
      fc.property(answer, cuts, ({ content, bytes }, places) => {
        const whole = parsePieces([bytes]);
        expect(whole).toMatchObject({ status: 200, body: content, end: "ended" });
        expect(parsePieces(cutAt(bytes, places))).toEqual(whole);
      }),
      { numRuns: 500 },
    );
  });

  test("A valid answer has the same result byte by byte.", () => {
    fc.assert(
      fc.property(answer, ({ bytes }) => {
        expect(parsePieces([...bytes].map((code) => Uint8Array.of(code)))).toEqual(parsePieces([bytes]));
      }),
      { numRuns: 100 },
    );
  });

  test("An answer has the same result when it is split in two at any byte.", () => {
    const bytes = Buffer.from(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nX-A: 1\r\ntransfer-encoding: chunked\r\n\r\n" +
        "5;x=y\r\nhello\r\n1\r\n!\r\n0\r\nt: 1\r\n\r\n",
    );
    const whole = parsePieces([bytes]);
    expect(whole).toMatchObject({ body: "hello!", end: "ended" });
    for (let at = 1; at < bytes.length; at++) {
      expect(parsePieces([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(whole);
    }
  });

  test("A damaged answer neither throws nor depends on the split.", () => {
    fc.assert(
      fc.property(mutated, cuts, (bytes, places) => {
        expect(parsePieces(cutAt(bytes, places))).toEqual(parsePieces([bytes]));
      }),
      { numRuns: 1500 },
    );
  });

  test("Garbage neither throws nor depends on the split.", () => {
    const garbage = fc.tuple(
      fc.constantFrom(
        "",
        "HTTP/1.1 ",
        "HTTP/1.1 200 OK\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
      ),
      fc.uint8Array({ maxLength: 400 }),
    );
    fc.assert(
      fc.property(garbage, cuts, ([start, rest], places) => {
        const bytes = Buffer.concat([Buffer.from(start), rest]);
        expect(parsePieces(cutAt(bytes, places))).toEqual(parsePieces([bytes]));
      }),
      { numRuns: 1000 },
    );
  });
});

const HEAD = "HTTP/1.1 200 OK\r\n";
const CHUNKED = `${HEAD}transfer-encoding: chunked\r\n\r\n`;

describe("http1 answer parser: rejected answers", () => {
  test.each([
    ["another protocol", "SSH-2.0 x"],
    ["HTTP/2 in text", "HTTP/2 200 OK\r\n\r\n"],
    ["HTTP/1.2", "HTTP/1.2 200 OK\r\n\r\n"],
    ["an empty line first", "\r\nHTTP/1.1 200 OK\r\n\r\n"],
    ["a status of two digits", "HTTP/1.1 20 OK\r\n\r\n"],
    ["a status of four digits", "HTTP/1.1 2000 OK\r\n\r\n"],
    ["a status below 100", "HTTP/1.1 099 OK\r\n\r\n"],
    ["a bare LF behind the status", "HTTP/1.1 200 OK\n\n"],
    ["a bare LF in the headers", `${HEAD}a: b\nc: d\r\n\r\n`],
    ["a bare CR in a value", `${HEAD}a: b\rc: d\r\n\r\n`],
    ["a NUL in a value", `${HEAD}a: b\0\r\n\r\n`],
    ["a folded line", `${HEAD}a: b\r\n c\r\n\r\n`],
    ["a blank before the colon", `${HEAD}content-length : 2\r\n\r\nok`],
    ["a line without a colon", `${HEAD}content-length\r\n\r\n`],
    ["a line without a name", `${HEAD}: 2\r\n\r\n`],
    ["two lengths", `${HEAD}content-length: 2\r\ncontent-length: 3\r\n\r\nok!`],
    ["a list of lengths", `${HEAD}content-length: 2, 2\r\n\r\nok`],
    ["a signed length", `${HEAD}content-length: +2\r\n\r\nok`],
    ["an empty length", `${HEAD}content-length:\r\n\r\nok`],
    ["a length past counting", `${HEAD}content-length: 9999999999999999\r\n\r\nok`],
    ["length beside chunks", `${HEAD}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`],
    ["another coding", `${HEAD}transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
    ["chunked twice", `${HEAD}transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`],
    ["chunks in HTTP/1.0", "HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"],
    ["an upgrade", "HTTP/1.1 101 Switching Protocols\r\n\r\n"],
    ["endless interim answers", "HTTP/1.1 102 Processing\r\n\r\n".repeat(17)],
    ["a chunk without a size", `${CHUNKED}\r\n`],
    ["a chunk of negative size", `${CHUNKED}-1\r\n`],
    ["a chunk size in C", `${CHUNKED}0x5\r\nhello`],
    ["a chunk past counting", `${CHUNKED}fffffffffffff\r\n`],
    ["a chunk longer than it says", `${CHUNKED}2\r\nhello\r\n`],
    ["a bare LF behind a size", `${CHUNKED}5\nhello\r\n0\r\n\r\n`],
    ["a bare LF in an extension", `${CHUNKED}5;a\nhello\r\n0\r\n\r\n`],
    ["a bare LF behind a chunk", `${CHUNKED}5\r\nhello\n0\r\n\r\n`],
    ["a bare LF in a trailer", `${CHUNKED}0\r\na: b\n\r\n`],
    ["a folded trailer", `${CHUNKED}0\r\n a: b\r\n\r\n`],
  ])("%s", (_, wire) => {
    expect(parse(wire).end).toBe("refused");
  });

  test.each([
    ["a head that exceeds its bound in one line", `${HEAD}a: ${"x".repeat(70_000)}`],
    ["a head that exceeds its bound in many lines", HEAD + "a: bcdefghijklmn\r\n".repeat(5000)],
    ["too many headers", `${HEAD}${"a: b\r\n".repeat(300)}\r\n`],
    ["a chunk line that exceeds its bound", `${CHUNKED}5;${"x".repeat(5000)}`],
    ["a size of endless zeros", CHUNKED + "0".repeat(5000)],
    ["trailers over their bound", `${CHUNKED}0\r\n${"a: bcdefghijklmn\r\n".repeat(5000)}`],
  ])("%s, in any cut", (_, wire) => {
    const bytes = Buffer.from(wire);
    expect(parsePieces([bytes]).end).toBe("refused");
    const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, i) =>
      bytes.subarray(i * 7, i * 7 + 7),
    );
    expect(parsePieces(pieces).end).toBe("refused");
  });
});

describe("http1 answer parser: accepted answers", () => {
  test.each<[string, string, Partial<Outcome>]>([
    ["no reason", "HTTP/1.1 200\r\ncontent-length: 0\r\n\r\n", { status: 200, end: "ended" }],
    ["an empty reason", "HTTP/1.1 200 \r\ncontent-length: 0\r\n\r\n", { status: 200, end: "ended" }],
    ["a length said twice", `${HEAD}content-length: 2\r\nContent-Length: 2\r\n\r\nok`, { body: "ok" }],
    ["headers of one name", `${HEAD}x-a: 1\r\nX-A: 2\r\n\r\n`, { headers: [null, "1, 2", null, null] }],
    ["padded values", `${HEAD}x-a: \t1 2\t \r\nx-b:\r\n\r\n`, { headers: [null, "1 2", "", null] }],
    ["values beyond ASCII", `${HEAD}x-a: \u00e9\r\n\r\n`, { headers: [null, "\u00e9", null, null] }],
    [
      "204 whatever its headers say",
      "HTTP/1.1 204 No\r\ncontent-length: 5\r\n\r\n",
      { body: "", end: "ended" },
    ],
    ["304 likewise", "HTTP/1.1 304 No\r\ntransfer-encoding: chunked\r\n\r\n", { body: "", end: "ended" }],
    [
      "sizes in capitals, padded",
      `${CHUNKED}0A \r\n0123456789\r\n00\r\n\r\n`,
      { body: "0123456789", end: "ended" },
    ],
    ["surplus behind a length", `${HEAD}content-length: 2\r\n\r\nokHTTP/1.1`, { body: "ok", end: "surplus" }],
    ["surplus behind chunks", `${CHUNKED}2\r\nok\r\n0\r\n\r\n\r\n`, { body: "ok", end: "surplus" }],
    ["a head cut short", `${HEAD}content-le`, { status: null, end: "in-head" }],
    ["nothing", "", { status: null, end: "in-head" }],
    ["a body cut short", `${HEAD}content-length: 9\r\n\r\nok`, { body: "ok", end: "in-body" }],
    ["chunks without the last", `${CHUNKED}2\r\nok\r\n`, { body: "ok", end: "in-body" }],
    ["trailers cut short", `${CHUNKED}2\r\nok\r\n0\r\na: b\r\n`, { body: "ok", end: "in-body" }],
  ])("%s", (_, wire, expected) => {
    expect(parse(wire)).toMatchObject(expected);
  });

  test("The answer to HEAD has no body, whatever it declares.", () => {
    expect(parse(`${HEAD}content-length: 5\r\n\r\n`, "HEAD")).toMatchObject({ body: "", end: "ended" });
  });

  test("All chunks of one read become one piece.", () => {
    const wire = new Uint8Array(Buffer.from(`${CHUNKED}2\r\nab\r\n3\r\ncde\r\n0\r\n\r\n`));
    const parser = new ResponseParser("GET", DEFAULT_BOUNDS);
    parser.feed(wire);
    expect(Buffer.from(wire.slice(parser.bodyAt, parser.bodyEnd)).toString()).toBe("abcde");
    expect(parser.isOver).toBe(true);
  });
});
