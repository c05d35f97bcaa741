// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Trees of frames. A Tree has all of its nodes in columns, parents before their children. A MergedTree is
 * made from one while it is looked at: its nodes are sets of the other's, grouped by name, upwards (callers)
 * or downwards (callees).
 */
const NO_NAME = 0xffffffff;

/* What all trees of a graph share: texts, lines of their sources, and the number of the row of frame_kinds.def of each. */
class FrameNames {
	constructor(text, source, kind, kinds) {
		this.text = text;
		this.source = source;
		this.kind = kind;
		this.kinds = kinds;
		this.short = new Array(text.length);
	}

	whole(name) {
		return name === NO_NAME ? "all" : this.text[name];
	}

	label(name) {
		if (name === NO_NAME)
			return "all";
		return this.short[name] || (this.short[name] = shortName(this.text[name]));
	}

	kindOf(name) {
		return name === NO_NAME ? null : this.kinds[this.kind[name]];
	}

	/* By number, of texts that match. */
	matching(pattern) {
		const hit = new Uint8Array(this.text.length);
		for (let i = 0; i < hit.length; i++)
			hit[i] = pattern.test(this.text[i]) ? 1 : 0;
		return hit;
	}
}

const heaviestFirst = tree => (a, b) => tree.total[b] - tree.total[a] || a - b;

class Tree {
	/* @parent: before its children; @before: of what it is compared with, or null */
	constructor(names, name, parent, self, before) {
		this.names = names;
		this.name = name;
		this.parent = parent;
		this.self = self;
		this.total = Float64Array.from(self);
		this.before = before ? Float64Array.from(before) : null;
		this.selfBefore = before;
		this.first = new Int32Array(name.length).fill(-1);
		this.next = new Int32Array(name.length).fill(-1);
		this.sorted = new Map();
		for (let i = name.length - 1; i > 0; i--) {
			this.total[parent[i]] += this.total[i];
			if (before)
				this.before[parent[i]] += this.before[i];
			this.next[i] = this.first[parent[i]];
			this.first[parent[i]] = i;
		}
	}

	get size() {
		return this.name.length;
	}

	selfOf(node) {
		return this.self[node];
	}

	kids(node) {
		let kids = this.sorted.get(node);
		if (kids)
			return kids;
		kids = [];
		for (let i = this.first[node]; i >= 0; i = this.next[i])
			kids.push(i);
		kids.sort(heaviestFirst(this));
		this.sorted.set(node, kids);
		return kids;
	}

	/* Of names that match, below @top: how many frames, and their weight; below one that matches it counts once. */
	matched(hit, top) {
		const state = new Uint8Array(this.size); /* 1: inside, 2: below a match */
		let frames = 0, weight = 0;
		state[top] = 1;
		for (let i = top; i < this.size; i++) {
			if (i > top)
				state[i] = state[this.parent[i]];
			if (!state[i] || this.name[i] === NO_NAME || !hit[this.name[i]])
				continue;
			frames++;
			if (state[i] === 1)
				weight += this.total[i];
			state[i] = 2;
		}
		return { frames, weight };
	}

	/* What each name weighs itself, and with all below it, once for each stack. */
	byName() {
		const self = new Float64Array(this.names.text.length), total = new Float64Array(self.length);
		const before = this.before ? new Float64Array(self.length) : null;
		for (let i = 1; i < this.size; i++) {
			const name = this.name[i];
			let up = this.parent[i];
			self[name] += this.self[i];
			while (up > 0 && this.name[up] !== name)
				up = this.parent[up];
			if (up > 0)
				continue;
			total[name] += this.total[i];
			if (before)
				before[name] += this.before[i];
		}
		return { self, total, before };
	}
}

/* Makes a Tree: children are found by name. */
class TreeBuilder {
	constructor(names, compared) {
		this.names = names;
		this.name = [NO_NAME];
		this.parent = [-1];
		this.self = [0];
		this.before = compared ? [0] : null;
		this.child = new Map();
	}

	under(parent, name) {
		const key = parent * 4294967296 + name;
		let node = this.child.get(key);
		if (node !== undefined)
			return node;
		node = this.name.length;
		this.child.set(key, node);
		this.name.push(name);
		this.parent.push(parent);
		this.self.push(0);
		if (this.before)
			this.before.push(0);
		return node;
	}

	add(node, tree, from) {
		this.self[node] += tree.self[from];
		if (this.before)
			this.before[node] += tree.selfBefore[from];
	}

	tree() {
		return new Tree(this.names, Uint32Array.from(this.name), Int32Array.from(this.parent),
			Float64Array.from(this.self), this.before ? Float64Array.from(this.before) : null);
	}
}

/* Without some frames: what they weigh is their caller's, and what they call, too. */
function withoutFrames(tree, leaveOut) {
	const builder = new TreeBuilder(tree.names, tree.before !== null), to = new Int32Array(tree.size);
	for (let i = 0; i < tree.size; i++) {
		if (i > 0)
			to[i] = leaveOut(i) ? to[tree.parent[i]] : builder.under(to[tree.parent[i]], tree.name[i]);
		builder.add(to[i], tree, i);
	}
	return builder.tree();
}

/* The interpreter's frames of stacks that have Python functions: these stand for them. */
function withoutInterpreter(tree) {
	const kinds = tree.names.kinds.map(k => k.name);
	const python = new Uint8Array(tree.size);
	const is = (i, wanted) => {
		const kind = tree.names.kind[tree.name[i]];
		return tree.name[i] !== NO_NAME && wanted.includes(kinds[kind]);
	};
	for (let i = 1; i < tree.size; i++)
		python[i] = python[tree.parent[i]] || is(i, ["python", "python_file"]) ? 1 : 0;
	/* outside of the first Python function: it is below */
	for (let i = tree.size - 1; i > 0; i--)
		if (python[i])
			python[tree.parent[i]] = 1;
	return withoutFrames(tree, i => python[i] && is(i, ["interpreter"]));
}

/* Each stack on the frame that @tagOf finds for its innermost node: the number of a name. */
function grouped(tree, tagOf) {
	const builder = new TreeBuilder(tree.names, tree.before !== null), to = new Map();
	const place = (tag, node) => {
		if (node <= 0)
			return builder.under(0, tag);
		const key = tag * 4294967296 + node;
		if (!to.has(key)) {
			const up = place(tag, tree.parent[node]);
			to.set(key, tree.name[node] === tag ? up : builder.under(up, tree.name[node]));
		}
		return to.get(key);
	};
	for (let i = 0; i < tree.size; i++)
		if (tree.self[i] || (tree.selfBefore && tree.selfBefore[i]))
			builder.add(place(tagOf(i), i), tree, i);
	return builder.tree();
}

class MergedTree {
	/* @members: nodes of @source, @up: towards callers; the root has the name @name */
	constructor(source, name, members, up, weightOf) {
		this.source = source;
		this.names = source.names;
		this.up = up;
		this.name = [name];
		this.parent = [-1];
		this.total = [0];
		this.self = [0];
		this.before = null;
		this.members = [{ at: members, weight: members.map(weightOf) }];
		this.kid = [null];
		for (const weight of this.members[0].weight)
			this.total[0] += weight;
	}

	/* Callers: what ends here is nobody's callee. Callees: what the frames weigh themselves. */
	selfOf(node) {
		return this.kids(node).reduce((left, kid) => left - this.total[kid], this.total[node]);
	}

	/* Where the members of a group go on: callers have one, callees any number. */
	*onward(group) {
		for (let k = 0; k < group.at.length; k++) {
			const at = group.at[k];
			if (this.up) {
				if (this.source.parent[at] > 0)
					yield [this.source.parent[at], group.weight[k]];
				continue;
			}
			for (let i = this.source.first[at]; i >= 0; i = this.source.next[i])
				yield [i, this.source.total[i]];
		}
	}

	kids(node) {
		if (!this.kid[node])
			this.kid[node] = this.grow(node, this.onward(this.members[node]));
		return this.kid[node];
	}

	grow(node, onward) {
		const groups = new Map();
		for (const [at, weight] of onward) {
			let group = groups.get(this.source.name[at]);
			if (!group)
				groups.set(this.source.name[at], group = { at: [], weight: [], total: 0 });
			group.at.push(at);
			group.weight.push(weight);
			group.total += weight;
		}
		const kids = [];
		for (const [name, group] of groups) {
			kids.push(this.name.length);
			this.name.push(name);
			this.parent.push(node);
			this.total.push(group.total);
			this.members.push(group);
			this.kid.push(null);
		}
		return kids.sort(heaviestFirst(this));
	}
}

/* Innermost frames at the root. */
function inverted(tree) {
	const at = [];
	for (let i = 1; i < tree.size; i++)
		if (tree.self[i])
			at.push(i);
	const out = new MergedTree(tree, NO_NAME, at, true, i => tree.self[i]);
	out.kid[0] = out.grow(0, at.map(i => [i, tree.self[i]]));
	return out;
}

/* The outermost frames of a name. */
function occurrences(tree, name) {
	const below = new Uint8Array(tree.size), at = [];
	for (let i = 1; i < tree.size; i++) {
		below[i] = below[tree.parent[i]];
		if (tree.name[i] !== name)
			continue;
		if (!below[i])
			at.push(i);
		below[i] = 1;
	}
	return at;
}

function callersOf(tree, name) {
	return new MergedTree(tree, name, occurrences(tree, name), true, i => tree.total[i]);
}

function calleesOf(tree, name) {
	return new MergedTree(tree, name, occurrences(tree, name), false, i => tree.total[i]);
}

/* The tree of a graph of the page. */
async function loadTree(look, graph) {
	const [text, source, kind, name, depth, self, before] = await Promise.all([
		unpackText(graph + "-names"), unpackText(graph + "-sources"), unpackU8(graph + "-kinds"),
		unpackU32(graph + "-name"), unpackU16(graph + "-depth"), unpackU64(graph + "-"),
		hasBlock(graph + "-before-low") ? unpackU64(graph + "-before-") : null]);
	const names = new FrameNames(text ? text.split("\n") : [], source.split("\n"), kind, look.kinds);
	const parent = new Int32Array(name.length), path = [];
	for (let i = 0; i < name.length; i++) {
		parent[i] = depth[i] ? path[depth[i] - 1] : -1;
		path[depth[i]] = i;
	}
	return new Tree(names, name, parent, self, before);
}
