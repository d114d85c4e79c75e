/** Every endpoint of the service. Adding one is its folder and its line here. */
import type { EndpointContract } from '../contracts/endpoint-contract.ts';
import { damageDetect } from './damage.detect/contract.ts';
import { damageSeverity } from './damage.severity/contract.ts';
import { dashboardRead } from './dashboard.read/contract.ts';
import { documentRead } from './document.read/contract.ts';
import { driverLicenseRead } from './driver_license.read/contract.ts';
import { engineDetect } from './engine.detect/contract.ts';
import { inspections } from './inspections/contract.ts';
import { partsDecompose } from './parts.decompose/contract.ts';
import { partsRecognize } from './parts.recognize/contract.ts';
import { partsSegment } from './parts.segment/contract.ts';
import { plateRead } from './plate.read/contract.ts';
import { pricingRepair } from './pricing.repair/contract.ts';
import { pricingVehicle } from './pricing.vehicle/contract.ts';
import { render360 } from './render.360/contract.ts';
import { renderBackground } from './render.background/contract.ts';
import { renderEnhance } from './render.enhance/contract.ts';
import { renderHotspots } from './render.hotspots/contract.ts';
import { renderPlate } from './render.plate/contract.ts';
import { renderVideo } from './render.video/contract.ts';
import { tireDetect } from './tire.detect/contract.ts';
import { tireRead } from './tire.read/contract.ts';
import { vehicleAnalyze } from './vehicle.analyze/contract.ts';
import { vehicleIdentify } from './vehicle.identify/contract.ts';
import { vehiclePose } from './vehicle.pose/contract.ts';
import { vehicleSegment } from './vehicle.segment/contract.ts';
import { videoOnboard } from './video.onboard/contract.ts';
import { viewerHotspots } from './viewer.hotspots/contract.ts';
import { vinRead } from './vin.read/contract.ts';

export const endpoints = [
  vehiclePose,
  vehicleSegment,
  vehicleIdentify,
  vehicleAnalyze,
  vinRead,
  plateRead,
  documentRead,
  driverLicenseRead,
  dashboardRead,
  engineDetect,
  videoOnboard,
  damageDetect,
  damageSeverity,
  tireRead,
  tireDetect,
  inspections,
  partsRecognize,
  partsSegment,
  partsDecompose,
  pricingVehicle,
  pricingRepair,
  renderBackground,
  renderEnhance,
  renderPlate,
  render360,
  renderVideo,
  renderHotspots,
  viewerHotspots,
] as const satisfies readonly EndpointContract[];

const bySlug = new Map<string, EndpointContract>(endpoints.map((endpoint) => [endpoint.slug, endpoint]));

/** The contract of a slug that is known to exist, such as one read from a job's row. */
export function endpointBySlug(slug: string): EndpointContract {
  const endpoint = bySlug.get(slug);
  if (!endpoint) throw new Error(`no endpoint has the slug ${slug}`);
  return endpoint;
}
