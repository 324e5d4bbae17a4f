/**
 * Addresses at which clouds serve the credentials of a machine: link-local ones, and those of single clouds. A configured URL must never
 * lead there, because its answers are shown to the operator who configures it.
 */

/** Names that clouds resolve to these addresses. */
const NAMES: ReadonlySet<string> = new Set([
  "metadata",
  "metadata.google.internal",
  "metadata.goog",
  "instance-data",
  "instance-data.ec2.internal",
]);

/** 169.254.0.0/16 is link-local; the others are Alibaba's, Azure's and Oracle's. */
const V4 = /^(169\.254\.\d+\.\d+|100\.100\.100\.200|168\.63\.129\.16|192\.0\.0\.192)$/;

/** fe80::/10 is link-local; the other is Amazon's. */
const V6 = /^(fe[89ab][0-9a-f]:|fd00:ec2::254$)/;

/** Returns whether a host name or an IP address is one of a cloud's metadata service. An IPv6 address may be in brackets. */
export function isMetadataAddress(host: string): boolean {
  const plain = host.toLowerCase().replace(/^\[|\]$|\.$/g, "");
  if (NAMES.has(plain) || V4.test(plain) || V6.test(plain)) return true;
  return V4.test(unmap(plain));
}

/** Returns the IPv4 address in a mapped IPv6 address: `::ffff:169.254.1.1`, or `::ffff:a9fe:101`, as URLs write it. */
function unmap(address: string): string {
  const [, dotted] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(address) ?? [];
  if (dotted !== undefined) return dotted;
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(address) ?? [];
  if (high === undefined || low === undefined) return "";
  const [first, second] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [first >> 8, first & 255, second >> 8, second & 255].join(".");
}
