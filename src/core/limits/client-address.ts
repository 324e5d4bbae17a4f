import { BlockList, isIP, isIPv6 } from "node:net";

/** Addresses of proxies whose `x-forwarded-for` is trusted. */
export interface TrustedProxies {
  has(address: string): boolean;
}

/**
 * Parses proxies given as IP addresses or CIDR ranges.
 * @throws RangeError naming the first entry that is neither.
 */
export function parseTrustedProxies(entries: readonly string[]): TrustedProxies {
  const ranges = new BlockList();
  for (const entry of entries) addRange(ranges, entry);
  return {
    has(text) {
      const address = normalize(text);
      return isIP(address) !== 0 && ranges.check(address, familyOf(address));
    },
  };
}

function addRange(ranges: BlockList, entry: string): void {
  const [text = "", bits] = entry.split("/");
  const address = normalize(text);
  const family = familyOf(address);
  const prefix = bits === undefined ? PREFIX_BITS[family] : Number(bits);
  if (isIP(address) === 0 || bits === "" || !(prefix >= 0 && prefix <= PREFIX_BITS[family]))
    throw new RangeError(`"${entry}" is neither an address nor a range such as 10.0.0.0/8`);
  ranges.addSubnet(address, Math.floor(prefix), family);
}

const PREFIX_BITS = { ipv4: 32, ipv6: 128 } as const;

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIPv6(address) ? "ipv6" : "ipv4";
}

/**
 * Returns the client's address: that of the peer, or, if the peer is a trusted proxy, the last address in `x-forwarded-for` that is not a
 * trusted proxy (docs/api/limits.md, "Requests without a key").
 */
export function findClientAddress(
  peer: string,
  forwardedFor: string | null,
  proxies: TrustedProxies,
): string {
  let address = peer;
  const hops = forwardedFor?.split(",").map((hop) => withoutPort(hop.trim())) ?? [];
  while (proxies.has(address)) {
    const hop = hops.pop();
    if (hop === undefined || isIP(normalize(hop)) === 0) break;
    address = hop;
  }
  return address;
}

/** Removes the port that some proxies add: `192.0.2.1:4711`, `[2001:db8::1]:4711`. Without a port IPv6 addresses may be in brackets too. */
function withoutPort(hop: string): string {
  return /^\[([^\]]*)\](?::\d{1,5})?$/.exec(hop)?.[1] ?? /^([\d.]+):\d{1,5}$/.exec(hop)?.[1] ?? hop;
}

const HALF_BITS = 64;

/**
 * Returns the key by which anonymous requests are counted: an IPv4 address, or the /64 prefix of an IPv6 address, because one subscriber
 * has all of it.
 */
export function limitKeyOf(text: string): string {
  const address = normalize(text);
  if (!isIPv6(address)) return withoutMapping(text);
  const high = groupsOf(address).slice(0, HALF_BITS / 16);
  return BigInt(`0x${high.map((group) => group.padStart(4, "0")).join("")}`).toString(16);
}

/** Removes the zone of an IPv6 address, and the prefix of an IPv4 address on a dual-stack socket. */
function normalize(text: string): string {
  return withoutMapping(text.split("%")[0] as string);
}

function withoutMapping(text: string): string {
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(text)?.[1] ?? text;
}

/** Returns the eight groups of an IPv6 address in hexadecimal. */
function groupsOf(address: string): string[] {
  // The URL parser writes an embedded IPv4 address as two groups.
  const [left = "", right] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const head = left === "" ? [] : left.split(":");
  if (right === undefined) return head;
  const tail = right === "" ? [] : right.split(":");
  return [...head, ...Array<string>(8 - head.length - tail.length).fill("0"), ...tail];
}
