// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The tables and pairs of a report, as lib/table/columns.c writes them: the numbers are those of
 * `grtrace report --json`. A cell has its number as data-value.
 */
const ROWS_AT_FIRST = 12;

function cellText(kind, value) {
	if (value === null)
		return "-";
	switch (kind) {
	case "ns":
		return formatNs(value);
	case "time":
		return (value / 1e9).toFixed(6) + " s";
	case "percent":
		return value < 100 ? threeDigits(value) + " %" : value.toFixed(0) + " %";
	case "bytes":
		return formatBytes(value);
	case "bool":
		return value ? "yes" : "no";
	case "named":
		return Array.isArray(value) ? value[1] : String(value);
	case "amount":
		return Array.isArray(value) ? formatAmount(value[0], value[1]) : String(value);
	case "list":
		return String(value.length);
	default:
		return String(value);
	}
}

const plain = value => Array.isArray(value) ? value[0] : value;
const isText = kind => kind === "text" || kind === "named";

class ReportTable {
	/* @origin: the moment from which the page counts; @zoom: gets the time of a row that has one; @causes: colours of
	 * those for which devices were idle */
	constructor(section, origin, zoom, causes) {
		this.section = section;
		this.origin = origin;
		this.zoom = zoom;
		this.causes = section.table === "idle" ? causes : new Map();
		this.rows = section.rows.slice();
		this.columns = section.columns;
		/* what only tells rows apart is shown where they differ in it */
		for (const [i, c] of this.columns.entries())
			c.brief = c.brief && (!c.tells || new Set(this.rows.map(r => plain(r[i])).filter(v => v !== null)).size > 1);
		this.all = this.rows.length <= ROWS_AT_FIRST + 3;
		this.wide = false;
		this.order = null;
		this.head = element("thead", {});
		this.body = element("tbody", {});
		this.more = button("", "", () => { this.all = true; this.fill(); });
		this.detail = button("All columns", "also those that only machines get", () => { this.wide = !this.wide; this.fill(); });
		this.element = element("div", { class: "report-table", "data-table": section.table },
			element("div", { class: "table-head" }, element("h3", {}, section.title || section.table),
				this.columns.some(c => !c.brief) ? this.detail : null),
			element("div", { class: "wide" }, element("table", {}, this.head, this.body)), this.more,
			section.more ? element("p", { class: "muted" }, `${section.more.toLocaleString("en")} more rows are not in the page: ` +
				"grtrace report --json has them.") : null);
		this.fill();
	}

	sort(i) {
		const kind = this.columns[i].kind, text = isText(kind);
		const down = this.order === i ? !this.down : !text;
		this.order = i;
		this.down = down;
		this.rows.sort((a, b) => {
			const [x, y] = [plain(a[i]), plain(b[i])];
			if (x === null || y === null)
				return (x === null) - (y === null);
			return (text ? String(x).localeCompare(String(y)) : x - y) * (down ? -1 : 1);
		});
		this.fill();
	}

	/* When a row was: what it says of its begin and end. */
	timeOf(row) {
		const at = key => {
			const i = this.columns.findIndex(c => c.key === key && c.kind === "time");
			return i >= 0 ? plain(row[i]) : null;
		};
		const lasted = key => {
			const i = this.columns.findIndex(c => c.key === key && c.kind === "ns");
			return i >= 0 ? plain(row[i]) : null;
		};
		for (const [from, to] of [["submit", "end"], ["start", "end"], ["from", "to"], ["submit", "complete"]])
			if (at(from) && at(to))
				return [at(from) - this.origin, at(to) - this.origin];
		for (const from of ["begin", "start", "from"])
			if (at(from) && lasted("time"))
				return [at(from) - this.origin, at(from) + lasted("time") - this.origin];
		if (at("shown") && lasted("time"))
			return [at("shown") - lasted("time") - this.origin, at("shown") - this.origin];
		return null;
	}

	fill() {
		const shown = this.columns.map((c, i) => i).filter(i => this.wide || this.columns[i].brief);
		this.head.replaceChildren(element("tr", {}, shown.map(i => {
			const c = this.columns[i];
			return element("th", { scope: "col", class: isText(c.kind) ? "name" : "", title: c.help || "",
				"aria-sort": this.order === i ? (this.down ? "descending" : "ascending") : undefined },
			button(c.name.replace(/_/g, " "), c.help || "", () => this.sort(i)));
		})));
		const rows = this.all ? this.rows : this.rows.slice(0, ROWS_AT_FIRST);
		this.body.replaceChildren(...rows.map(row => this.row(row, shown)));
		this.more.hidden = this.all;
		this.more.textContent = `all ${this.rows.length} rows`;
		this.detail.textContent = this.wide ? "Fewer columns" : "All columns";
	}

	row(row, shown) {
		const time = this.timeOf(row), [inferred, estimated] = row.slice(this.columns.length);
		const tr = element("tr", time ? { class: "link", tabindex: "0", title: "zoom to it" } : {}, shown.map((i, n) => {
			const c = this.columns[i], mark = inferred.includes(i) ? "*" : estimated.includes(i) ? "~" : "";
			const td = element("td", { class: isText(c.kind) ? "text" : "", "data-key": c.key,
				"data-value": row[i] === null ? "" : String(plain(row[i])) },
			c.key === "cause" && this.causes.has(row[i]) ? swatch(this.causes.get(row[i])) : null,
			cellText(c.kind, row[i]), mark ? element("sup", {}, mark) : null);
			if (c.kind === "percent" && row[i] !== null) {
				td.classList.add("share");
				td.style.setProperty("--share", Math.min(plain(row[i]), 100) + "%");
			}
			return td;
		}));
		if (time) {
			const go = () => this.zoom(...time);
			tr.addEventListener("click", go);
			tr.addEventListener("keydown", e => e.key === "Enter" && go());
		}
		return tr;
	}
}

/* Pairs, as a list of terms. */
function reportPairs(section) {
	return element("div", { class: "pairs", "data-fields": section.fields },
		element("h3", {}, section.title || section.fields || "span"), element("dl", {}, section.list.map(f => [
			element("dt", {}, f.name.replace(/_/g, " ")),
			element("dd", { "data-key": f.name, "data-value": f.value === null ? "" : String(plain(f.value)) },
				element("b", {}, cellText(f.kind, f.value)), f.inferred ? "*" : "",
				f.note ? element("span", { class: "muted" }, " " + f.note) : null)])));
}
