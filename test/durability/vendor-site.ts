import { type GatewayProcess, makeSite, type Site } from "../support/gateway/gateway-process.ts";
import { healthy, startVendor, type Vendor } from "../support/vendors/vendor.ts";

/** A vendor, and a site with it as the only provider. */
export interface VendorSite {
  readonly vendor: Vendor;
  readonly site: Site;
  /** Starts a gateway on the site. `key` is that of an earlier start. */
  start(key?: string): Promise<GatewayProcess>;
  /** Stops gateway and vendor, and removes the site. */
  clear(): Promise<void>;
}

/** Creates a site; `yaml` is its configuration besides the provider. The vendor answers with text from `Alpha`. */
export function makeVendorSite(yaml: string): VendorSite {
  const vendor = startVendor(healthy("Alpha"));
  const site = makeSite(`
providers:
  vendor-a:
    base_url: "${vendor.baseUrl}"
    api_keys: ["sk-vendor-a-0123456789abcdef"]
    models:
      - {id: acme/model, prices: {prompt: "0.000001", completion: "0.000002"}}
      - {id: "acme/model:free", prices: {prompt: "0.000001", completion: "0.000002"}}
${yaml}
`);
  let running: GatewayProcess | null = null;
  return {
    vendor,
    site,
    async start(key) {
      running = await site.start(key);
      return running;
    },
    async clear() {
      await running?.kill();
      vendor.stop();
      site.remove();
    },
  };
}
