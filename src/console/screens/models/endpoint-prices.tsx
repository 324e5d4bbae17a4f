import { useState } from "preact/hooks";
import type { Pricing } from "../../api/schema.ts";
import { PriceFields } from "../../parts/config/price-fields.tsx";
import { type Prices, readPrices, toConfigPrices, typePrices } from "../../parts/config/typed-prices.ts";
import { Button } from "../../parts/controls/button.tsx";
import { FieldError } from "../../parts/controls/field-error.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
import { Dialog, DialogButtons } from "../../parts/layout/dialog.tsx";
import { showToast } from "../../parts/layout/toast.tsx";
import { text } from "../../text/text.ts";

const words = text.models.operator;

/** Sets prices for a model at a provider instead of those of the catalog, or returns to them. */
export function EndpointPrices(props: {
  name: string;
  /** The prices in force. */
  pricing: Partial<Pricing> | undefined;
  /** The operator's prices; null if those of the catalog are in force. */
  own: Prices | null;
  onSave: (prices: Prices | undefined) => Promise<unknown>;
  onClose: () => void;
  onDone: () => void;
}) {
  const { name, own, onClose } = props;
  const inForce = toConfigPrices(props.pricing);
  const [typed, setTyped] = useState(() => typePrices(own ?? inForce));
  const [showsProblem, setShowsProblem] = useState(false);
  const saving = useAction();
  const prices = readPrices(typed, own ?? inForce);
  const save = (saved: Prices | undefined) =>
    saving.run(async () => {
      await props.onSave(saved);
      showToast(words.pricesSaved(name));
      props.onDone();
    });
  return (
    <Dialog
      title={words.pricesTitle(name)}
      isWide
      onClose={onClose}
      onSubmit={() => (prices ? void save(prices) : setShowsProblem(true))}
      foot={
        <>
          {own === null ? null : <Button onClick={() => void save(undefined)}>{words.useCatalog}</Button>}
          <span class="grow" />
          <DialogButtons submit={text.lists.save} onClose={onClose} isBusy={saving.isBusy} />
        </>
      }
    >
      <FormError error={saving.error} />
      <p class="quiet">{words.pricesAbout}</p>
      <PriceFields values={typed} onChange={setTyped} />
      <FieldError error={showsProblem && !prices ? words.badPrices : null} />
    </Dialog>
  );
}
