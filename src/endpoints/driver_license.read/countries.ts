/** Countries of licences by the letters in machine-readable zones and by their distinguishing signs. */

const ALPHA_3 =
  'AUT=AT BEL=BE BGR=BG CAN=CA CYP=CY CZE=CZ DEU=DE DNK=DK EST=EE ESP=ES FIN=FI FRA=FR GRC=GR HRV=HR HUN=HU IRL=IE ISL=IS ' +
  'ITA=IT LIE=LI LTU=LT LUX=LU LVA=LV MLT=MT NLD=NL NOR=NO POL=PL PRT=PT ROU=RO SWE=SE SVN=SI SVK=SK USA=US';
/** Directive 2006/126/EC, annex I, and the EEA. Some issuers print the ISO code instead. */
const SIGNS =
  'A=AT B=BE BG=BG CY=CY CZ=CZ D=DE DK=DK E=ES EST=EE F=FR FIN=FI FL=LI GR=GR H=HU HR=HR I=IT IRL=IE IS=IS L=LU LT=LT LV=LV ' +
  'M=MT N=NO NL=NL P=PT PL=PL RO=RO S=SE SK=SK SLO=SI AT=AT BE=BE DE=DE EE=EE ES=ES FI=FI FR=FR HU=HU IE=IE IT=IT LI=LI LU=LU ' +
  'MT=MT NO=NO PT=PT SE=SE SI=SI';

const table = (text: string) => new Map(text.split(' ').map((pair) => pair.split('=') as [string, string]));
const byAlpha3 = table(ALPHA_3);
const bySign = table(SIGNS);

export function alpha2Of(letters: string): string | null {
  return byAlpha3.get(letters) ?? (letters === 'D<<' ? 'DE' : null);
}

export function countryOfSign(sign: string): string | null {
  return bySign.get(sign) ?? null;
}

/** As the titles of European licences name the state. */
const STATES: Readonly<Record<string, readonly string[]>> = {
  AT: ['REPUBLIK ÖSTERREICH', 'ÖSTERREICH'],
  BE: ['BELGIQUE', 'BELGIË', 'BELGIEN'],
  BG: ['REPUBLIC OF BULGARIA', 'BULGARIA'],
  CY: ['CYPRUS', 'KIBRIS'],
  CZ: ['ČESKÁ REPUBLIKA'],
  DE: ['BUNDESREPUBLIK DEUTSCHLAND'],
  DK: ['DANMARK', 'KONGERIGET DANMARK'],
  EE: ['EESTI VABARIIK', 'EESTI'],
  ES: ['REINO DE ESPAÑA', 'ESPAÑA'],
  FI: ['SUOMI', 'FINLAND'],
  FR: ['RÉPUBLIQUE FRANÇAISE'],
  GR: ['HELLENIC REPUBLIC'],
  HR: ['REPUBLIKA HRVATSKA', 'HRVATSKA'],
  HU: ['MAGYARORSZÁG', 'MAGYAR KÖZTÁRSASÁG'],
  IE: ['ÉIRE', 'IRELAND'],
  IS: ['ÍSLAND'],
  IT: ['REPUBBLICA ITALIANA'],
  LI: ['FÜRSTENTUM LIECHTENSTEIN'],
  LT: ['LIETUVOS RESPUBLIKA'],
  LU: ['GRAND-DUCHÉ DE LUXEMBOURG', 'LUXEMBOURG'],
  LV: ['LATVIJAS REPUBLIKA', 'LATVIJA'],
  MT: ['REPUBBLIKA TA MALTA', 'MALTA'],
  NL: ['KONINKRIJK DER NEDERLANDEN', 'NEDERLAND'],
  NO: ['NORGE', 'NOREG'],
  PL: ['RZECZPOSPOLITA POLSKA'],
  PT: ['REPÚBLICA PORTUGUESA', 'PORTUGAL'],
  RO: ['ROMÂNIA'],
  SE: ['SVERIGE'],
  SI: ['REPUBLIKA SLOVENIJA', 'SLOVENIJA'],
  SK: ['SLOVENSKÁ REPUBLIKA'],
};

/** ISO 3166-1 alpha-2; null if the text names none of them, or several. */
export function countryNamedIn(text: string): string | null {
  const words = wordsOf(text);
  const named = Object.entries(STATES).filter(([, names]) => names.some((name) => words.includes(wordsOf(name))));
  return named.length === 1 ? (named[0]?.[0] ?? null) : null;
}

/** Capitals without accents, each word between spaces. */
function wordsOf(text: string): string {
  const plain = text.toUpperCase().normalize('NFD').replaceAll(/\p{M}/gu, '');
  return ` ${plain.replaceAll(/[^A-Z]+/g, ' ').trim()} `;
}

/** As licences name their issuer. */
const REGIONS: Readonly<Record<string, string>> = {
  'US-AL': 'ALABAMA',
  'US-AK': 'ALASKA',
  'US-AZ': 'ARIZONA',
  'US-AR': 'ARKANSAS',
  'US-CA': 'CALIFORNIA',
  'US-CO': 'COLORADO',
  'US-CT': 'CONNECTICUT',
  'US-DE': 'DELAWARE',
  'US-DC': 'DISTRICT OF COLUMBIA',
  'US-FL': 'FLORIDA',
  'US-GA': 'GEORGIA',
  'US-HI': 'HAWAII',
  'US-ID': 'IDAHO',
  'US-IL': 'ILLINOIS',
  'US-IN': 'INDIANA',
  'US-IA': 'IOWA',
  'US-KS': 'KANSAS',
  'US-KY': 'KENTUCKY',
  'US-LA': 'LOUISIANA',
  'US-ME': 'MAINE',
  'US-MD': 'MARYLAND',
  'US-MA': 'MASSACHUSETTS',
  'US-MI': 'MICHIGAN',
  'US-MN': 'MINNESOTA',
  'US-MS': 'MISSISSIPPI',
  'US-MO': 'MISSOURI',
  'US-MT': 'MONTANA',
  'US-NE': 'NEBRASKA',
  'US-NV': 'NEVADA',
  'US-NH': 'NEW HAMPSHIRE',
  'US-NJ': 'NEW JERSEY',
  'US-NM': 'NEW MEXICO',
  'US-NY': 'NEW YORK',
  'US-NC': 'NORTH CAROLINA',
  'US-ND': 'NORTH DAKOTA',
  'US-OH': 'OHIO',
  'US-OK': 'OKLAHOMA',
  'US-OR': 'OREGON',
  'US-PA': 'PENNSYLVANIA',
  'US-RI': 'RHODE ISLAND',
  'US-SC': 'SOUTH CAROLINA',
  'US-SD': 'SOUTH DAKOTA',
  'US-TN': 'TENNESSEE',
  'US-TX': 'TEXAS',
  'US-UT': 'UTAH',
  'US-VT': 'VERMONT',
  'US-VA': 'VIRGINIA',
  'US-WA': 'WASHINGTON',
  'US-WV': 'WEST VIRGINIA',
  'US-WI': 'WISCONSIN',
  'US-WY': 'WYOMING',
  'CA-AB': 'ALBERTA',
  'CA-BC': 'BRITISH COLUMBIA',
  'CA-MB': 'MANITOBA',
  'CA-NB': 'NEW BRUNSWICK',
  'CA-NL': 'NEWFOUNDLAND',
  'CA-NS': 'NOVA SCOTIA',
  'CA-NT': 'NORTHWEST TERRITORIES',
  'CA-NU': 'NUNAVUT',
  'CA-ON': 'ONTARIO',
  'CA-PE': 'PRINCE EDWARD ISLAND',
  'CA-QC': 'QUÉBEC',
  'CA-SK': 'SASKATCHEWAN',
  'CA-YT': 'YUKON',
};

/** The region whose name a text contains: the longest, as West Virginia contains Virginia. */
export function regionNamedIn(text: string): string | null {
  const words = wordsOf(text);
  const [longest] = Object.entries(REGIONS)
    .filter(([, name]) => words.includes(wordsOf(name)))
    .toSorted(([, one], [, other]) => other.length - one.length);
  return longest?.[0] ?? null;
}
