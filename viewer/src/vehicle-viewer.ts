/** Registers `<vehicle-spin>` and `<vehicle-hotspots>`. */
import { VehicleHotspots } from './vehicle-hotspots.ts';
import { VehicleSpin } from './vehicle-spin.ts';

// Two releases may be on one page; the first wins.
if (!customElements.get('vehicle-spin')) customElements.define('vehicle-spin', VehicleSpin);
if (!customElements.get('vehicle-hotspots')) customElements.define('vehicle-hotspots', VehicleHotspots);

export { VehicleHotspots, VehicleSpin };
