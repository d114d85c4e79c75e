/** The types of an OpenAPI document, named once each, for printers of any language. */

export interface Schema {
  $ref?: string;
  type?: string;
  const?: string | number | boolean;
  enum?: (string | number)[];
  anyOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  patternProperties?: Record<string, Schema>;
  contentMediaType?: string;
  description?: string;
}

export type Type =
  | { kind: 'string' | 'integer' | 'number' | 'boolean' | 'null' | 'any' | 'file' }
  | { kind: 'literal'; values: readonly (string | number | boolean)[] }
  | { kind: 'list'; item: Type }
  | { kind: 'dictionary'; value: Type }
  | { kind: 'union'; of: Type[] }
  | { kind: 'named'; name: string };

export interface Field {
  name: string;
  type: Type;
  required: boolean;
  description: string | undefined;
}

export type Declaration =
  | { kind: 'object'; name: string; fields: Field[]; description: string | undefined; isInput: boolean }
  | { kind: 'alias'; name: string; type: Type };

/** A list of so many values or fewer is written where it is used. */
const INLINE_VALUES = 4;
/** Better names of objects than those of the fields that hold them. */
const OBJECT_NAMES: Record<string, string> = {
  Bbox: 'Box',
  Polygon: 'Point',
  EventJob: 'JobEvent',
  EventCredits: 'CreditsEvent',
};
/** Names of fields that say too little outside their object. */
const VAGUE = new Set([
  'Before',
  'Check',
  'Data',
  'Error',
  'Field',
  'Front',
  'Line',
  'Name',
  'Page',
  'Result',
  'Type',
  'Value',
]);

export class TypeCatalog {
  readonly declarations = new Map<string, Declaration>();
  readonly #schemas: Record<string, Schema>;
  readonly #nameOfShape = new Map<string, string>();
  readonly #usesOfShape = new Map<string, number>();
  readonly #handWritten = new Set<string>();
  readonly #reserved: Set<string>;
  #isInput = false;

  /**
   * `roots` are all schemas that will be asked for: a shape that occurs twice among them gets a short name, unless it is
   * reserved.
   */
  constructor(schemas: Record<string, Schema>, roots: readonly Schema[], reserved: readonly string[]) {
    this.#schemas = schemas;
    this.#reserved = new Set([...VAGUE, ...reserved]);
    for (const [key, schema] of Object.entries(schemas)) {
      const shape = shapeOf(schema);
      if (schema.properties && !this.#nameOfShape.has(shape)) this.#nameOfShape.set(shape, pascalCase(key));
    }
    for (const root of [...Object.values(schemas), ...roots]) this.#count(root);
  }

  /** A type that the client has written itself. */
  declareByHand(name: string): void {
    this.#handWritten.add(name);
  }

  /** Fields of an input, whose objects callers write as plain dictionaries. */
  inputFieldsOf(schema: Schema, owner: string): Field[] {
    this.#isInput = true;
    const fields = this.fieldsOf(schema, owner);
    this.#isInput = false;
    return fields;
  }

  /** Declares what the schema needs. `name` is used for an object, or for a long list of values. */
  typeOf(schema: Schema, name: string, shortName = name): Type {
    if (schema.$ref !== undefined) return this.#reference(schema.$ref);
    if (schema.allOf) throw new Error(`${name}: allOf is not supported`);
    if (schema.anyOf) return { kind: 'union', of: this.#membersOf(schema.anyOf, name, shortName) };
    if (schema.const !== undefined) return { kind: 'literal', values: [schema.const] };
    if (schema.enum) return this.#values(schema.enum, name);
    if (schema.contentMediaType !== undefined) return { kind: 'file' };
    if (schema.type === 'array') {
      return { kind: 'list', item: this.typeOf(schema.items ?? {}, singular(name), singular(shortName)) };
    }
    if (schema.type === 'object') return this.#object(schema, name, shortName);
    if (schema.type === undefined) return { kind: 'any' };
    return { kind: schema.type as 'string' | 'integer' | 'number' | 'boolean' | 'null' };
  }

  /** Fields of an object, in the document's order. */
  fieldsOf({ properties = {}, required = [] }: Schema, owner: string): Field[] {
    return Object.entries(properties).map(([name, schema]) => ({
      name,
      type: this.typeOf(schema, owner + pascalCase(name), pascalCase(name)),
      required: required.includes(name),
      description: schema.description,
    }));
  }

  #reference(reference: string): Type {
    const key = reference.replace('#/components/schemas/', '');
    const schema = this.#schemas[key];
    if (!schema) throw new Error(`${reference} is not in the document`);
    const name = pascalCase(key);
    if (this.declarations.has(name) || this.#handWritten.has(name)) return { kind: 'named', name };
    const type = this.typeOf(schema, name);
    if (type.kind === 'named' && type.name === name) return type;
    this.declarations.set(name, { kind: 'alias', name, type });
    return { kind: 'named', name };
  }

  #membersOf(members: Schema[], name: string, shortName: string): Type[] {
    const objects = members.filter(({ type }) => type === 'object');
    return members.map((member) => {
      // Alternatives are told apart by a constant of theirs.
      const tag = objects.length > 1 && member.type === 'object' ? tagOf(member) : '';
      return this.typeOf(member, name + tag, shortName + tag);
    });
  }

  #object(schema: Schema, name: string, shortName: string): Type {
    const [values] = Object.values(schema.patternProperties ?? {});
    if (values) return { kind: 'dictionary', value: this.typeOf(values, `${name}Value`) };
    if (Object.keys(schema.properties ?? {}).length === 0) return { kind: 'dictionary', value: { kind: 'any' } };
    const shape = (this.#isInput ? 'input ' : '') + shapeOf(schema);
    const known = this.#nameOfShape.get(shape);
    if (known !== undefined && this.declarations.has(known)) return { kind: 'named', name: known };
    const suffix = this.#isInput ? 'Input' : '';
    const [wanted, wantedShort] = [OBJECT_NAMES[name] ?? name, OBJECT_NAMES[shortName] ?? shortName];
    const own = known ?? this.#freeName(shape, wanted + suffix, wantedShort + suffix);
    // Reserved before its fields, which may have names of their own to find.
    const declaration: Declaration = {
      kind: 'object',
      name: own,
      fields: [],
      description: schema.description,
      isInput: this.#isInput,
    };
    this.declarations.set(own, declaration);
    declaration.fields = this.fieldsOf(schema, own);
    // Dependencies first: an alias is evaluated when it is read.
    this.declarations.delete(own);
    this.declarations.set(own, declaration);
    return { kind: 'named', name: own };
  }

  #values(values: (string | number)[], name: string): Type {
    const type: Type = { kind: 'literal', values };
    if (values.length <= INLINE_VALUES) return type;
    const shape = shapeOf({ enum: values });
    const known = this.#nameOfShape.get(shape);
    if (known !== undefined) return { kind: 'named', name: known };
    const own = this.#freeName(shape, name, name);
    this.declarations.set(own, { kind: 'alias', name: own, type });
    return { kind: 'named', name: own };
  }

  #freeName(shape: string, name: string, shortName: string): string {
    const wanted = (this.#usesOfShape.get(shape.replace(/^input /, '')) ?? 0) > 1 ? [shortName, name] : [name];
    const isFree = (candidate: string) => !this.declarations.has(candidate) && !this.#reserved.has(candidate);
    const free = [...wanted, ...[2, 3, 4, 5, 6, 7, 8, 9].map((number) => name + number)].find(isFree);
    if (free === undefined) throw new Error(`no name is free for ${name}`);
    this.#nameOfShape.set(shape, free);
    return free;
  }

  #count(schema: Schema): void {
    const isObject = schema.type === 'object' && schema.properties !== undefined;
    if (isObject || schema.enum) {
      const shape = shapeOf(isObject ? schema : { enum: schema.enum ?? [] });
      this.#usesOfShape.set(shape, (this.#usesOfShape.get(shape.replace(/^input /, '')) ?? 0) + 1);
    }
    const inner = [...(schema.anyOf ?? []), ...Object.values(schema.properties ?? {})];
    for (const part of [...inner, ...(schema.items ? [schema.items] : [])]) this.#count(part);
  }
}

export function pascalCase(name: string): string {
  return name
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

function singular(name: string): string {
  if (name.endsWith('ies')) return `${name.slice(0, -3)}y`;
  return /[^s]s$/.test(name) ? name.slice(0, -1) : name;
}

function tagOf({ properties = {} }: Schema): string {
  const { type, operation } = properties;
  const tag = type?.const ?? type?.enum?.[0] ?? operation?.const;
  return tag === undefined ? '' : pascalCase(String(tag).split('.')[0] ?? '');
}

/** What of a schema decides its printed type. */
function shapeOf(schema: Schema): string {
  return JSON.stringify(schema, [
    '$ref',
    'type',
    'const',
    'enum',
    'anyOf',
    'properties',
    'required',
    'items',
    'patternProperties',
    'contentMediaType',
    ...fieldNames(schema),
  ]);
}

/** An allow-list of `JSON.stringify` holds for the names of fields too. */
function fieldNames(schema: Schema): string[] {
  const own = Object.entries({ ...schema.properties, ...schema.patternProperties });
  const inner = [...(schema.anyOf ?? []), ...own.map(([, value]) => value), ...(schema.items ? [schema.items] : [])];
  return [...own.map(([name]) => name), ...inner.flatMap(fieldNames)];
}
