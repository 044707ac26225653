// What a reader can do with the charts of a page: see values, hide series, change axes, zoom time lines. It moves and hides
// parts of the pictures that are there already, and needs nothing else. Package chart (marks.go) says how parts are marked.
'use strict';
(() => {
	const svgNS = 'http://www.w3.org/2000/svg';
	const make = (name, attributes = {}, text = '') => {
		const e = name === 'g' || name === 'path' || name === 'rect' || name === 'circle' || name === 'text' || name === 'clipPath' ? document.createElementNS(svgNS, name) : document.createElement(name);
		for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
		e.textContent = text;
		return e;
	};
	const shown = e => e.getClientRects().length > 0;
	const round = x => Number(x.toPrecision(4));
	const size = k => k === '' ? '' : k >= 1048576 && k % 1048576 === 0 ? k / 1048576 + ' MiB' : k >= 1024 && k % 1024 === 0 ? k / 1024 + ' KiB' : k + ' B';

	// An axis maps values to places of a picture and back.
	class Axis {
		constructor(text, low, high) {
			const [from, to, kind, zero] = text.split(' ');
			Object.assign(this, { from: +from, to: +to, kind, zero: +zero, low, high });
		}
		with(change) { return Object.assign(Object.create(Axis.prototype), this, change); }
		at(v) {
			if (this.kind === 'none') return v;
			if (this.kind === 'log') {
				if (v <= 0) v = this.zero || this.from;
				return this.low + (this.high - this.low) * Math.log(v / this.from) / Math.log(this.to / this.from);
			}
			return this.low + (this.high - this.low) * (v - this.from) / (this.to - this.from);
		}
		value(p) {
			const part = (p - this.low) / (this.high - this.low);
			if (this.kind === 'none') return p;
			if (this.kind !== 'log') return this.from + part * (this.to - this.from);
			if (this.zero && Math.abs(p - this.at(this.zero)) < 0.02) return 0;
			return this.from * (this.to / this.from) ** part;
		}
		ticks(room) {
			const out = [];
			if (this.kind === 'log') {
				if (this.zero) out.push([0, '0']);
				const decades = Math.log10(this.to / this.from), every = Math.max(1, Math.ceil(decades / room));
				const few = decades * 3 <= room;
				for (let e = Math.floor(Math.log10(this.from)); e <= Math.log10(this.to); e++)
					for (const f of [1, 2, 5]) {
						const v = f * 10 ** e;
						if (v >= this.from && v <= this.to && !(this.zero && v <= this.zero * 1.5)) out.push([v, f === 1 && e % every === 0 || f > 1 && few ? String(round(v)) : '']);
					}
				return out;
			}
			const span = this.to - this.from, power = 10 ** Math.floor(Math.log10(span / room));
			const step = [1, 2, 5, 10].map(f => f * power).find(s => span / s <= room) ?? 10 * power;
			for (let i = Math.ceil(this.from / step - 1e-9); i * step <= this.to * (1 + 1e-9); i++) out.push([i * step, String(Number((i * step).toPrecision(6)))]);
			return out;
		}
	}

	// A plot is the part of a picture that has axes of its own.
	class Plot {
		constructor(axes, panel) {
			this.axes = axes;
			this.panel = panel;
			const [left, right, top, bottom] = axes.dataset.room.split(' ').map(Number);
			this.room = { left, right, top, bottom };
			this.x = this.drawnX = new Axis(axes.dataset.x, left, right);
			this.y = this.drawnY = new Axis(axes.dataset.y, bottom, top);
			this.parts = []; // what moves with the axes
			this.groups = []; // that have it
			this.lanes = []; // groups of which the horizontal axis moves what is there, and nothing the height
		}
		take(group) {
			const isLane = group.matches('.lanes');
			(isLane ? this.lanes : this.groups).push(group);
			for (const e of group.querySelectorAll('path,text')) {
				const half = +e.getAttribute('textLength') / 2;
				this.parts.push(e.tagName === 'path' ? { e, path: e.getAttribute('d'), isLane } : { e, middle: +e.getAttribute('x') + half, half });
			}
		}
		// Only what is absolute is moved: shapes of points keep their form.
		move() {
			const x = p => this.x.at(this.drawnX.value(p)).toFixed(2), y = p => this.y.at(this.drawnY.value(p)).toFixed(2);
			for (const { e, path, isLane, middle, half } of this.parts) {
				if (path) e.setAttribute('d', path.replace(/([ML])(-?[\d.]+) (-?[\d.]+)/g, (_, c, a, b) => c + x(+a) + ' ' + (isLane ? b : y(+b))));
				else e.setAttribute('x', x(middle) - half);
			}
			const { left, right, top, bottom } = this.room;
			this.axes.replaceChildren();
			const line = (name, d) => this.axes.append(make('path', { class: name, d }));
			const text = (x, y, anchor, words) => this.axes.append(make('text', { class: 'tick', x, y, 'text-anchor': anchor, 'font-size': 11 }, words));
			const time = this.y.kind === 'none';
			for (const [v, words] of this.x.ticks(Math.max(3, (right - left) / (time ? 80 : 60)))) {
				const p = this.x.at(v);
				line(time ? 'axis' : 'grid', `M${p} ${time ? bottom + 4 : top}L${p} ${bottom}`);
				if (words) text(p, bottom + 15, 'middle', !time && !this.panel?.x && v > 0 ? shortSize(v) : words);
			}
			line('axis', `M${left} ${bottom}L${right} ${bottom}`);
			if (time) return;
			for (const [v, words] of this.y.ticks(Math.max(3, (bottom - top) / 24))) {
				const p = this.y.at(v);
				line('grid', `M${left} ${p}L${right} ${p}`);
				if (words) text(left - 5, p + 4, 'end', words);
			}
			line('axis', `M${left} ${top}L${left} ${bottom}`);
		}
	}
	const shortSize = v => v >= 1e6 ? round(v / 1e6) + ' MB' : v >= 1e3 ? round(v / 1e3) + ' KB' : round(v) + ' B';

	// A detail is the calls, waits and messages of a run, which a picture of all ranks shows when the reader zooms in.
	class Detail {
		constructor(picture, data) {
			const { svg, plots: [plot] } = picture;
			Object.assign(this, { picture, plot, data, svg, image: svg.querySelector('image'), names: svg.querySelector('g.ranks'), group: make('g', { class: 'detail' }) });
			this.box = Object.fromEntries(['x', 'y', 'width', 'height'].map(k => [k, +this.image.getAttribute(k)]));
			this.ranks = +this.names.dataset.ranks;
			this.first = 0;
			this.last = this.ranks; // ranks that are shown: from first, below last
			this.image.parentNode.after(this.group);
		}
		// decode calls use with rows of so many numbers, each as far as it may want them.
		static decode(text, columns, use) {
			const row = [];
			for (let i = 0, from = 0; i < text.length; i++) {
				if (text[i] !== ',') continue;
				row.push(i === from ? 0 : parseInt(text.slice(from, i), 36));
				from = i + 1;
				if (row.length === columns) {
					if (use(row) === false) return;
					row.length = 0;
				}
			}
		}
		rows(name, rank, columns) {
			const all = [];
			let at = 0;
			Detail.decode(this.data[name][rank] ?? '', columns, r => {
				const from = at + r[columns - 2], to = from + r[columns - 1];
				all.push([from * this.data.tick, to * this.data.tick, r[0]]);
				at = to;
			});
			return all;
		}
		height() { return this.box.height / (this.last - this.first); }
		top(rank) { return this.box.y + (rank - this.first) * this.height(); }
		rankAt(y) { return this.first + (y - this.box.y) / this.height(); }
		select(first, last) {
			const n = Math.min(Math.max(Math.ceil(last - first), Math.min(2, this.ranks)), this.ranks);
			this.first = Math.min(Math.max(Math.floor(first), 0), this.ranks - n);
			this.last = this.first + n;
		}
		draw() {
			const { plot: { x, room }, data } = this, scale = this.ranks / (this.last - this.first);
			const { to: whole } = this.plot.drawnX;
			for (const [k, v] of Object.entries({ x: x.at(0), width: this.box.width * whole / (x.to - x.from), y: this.top(0), height: this.box.height * scale })) this.image.setAttribute(k, v);
			this.names.replaceChildren();
			const step = [1, 2, 5].flatMap(f => [0, 1, 2, 3, 4, 5].map(e => f * 10 ** e)).sort((a, b) => a - b).find(s => s * this.height() >= 14);
			for (let r = Math.ceil(this.first / step) * step; r < this.last; r += step) this.names.append(make('text', { class: 'tick', x: room.left - 4, y: this.top(r + 0.5) + 4, 'text-anchor': 'end', 'font-size': 11 }, r));
			this.group.replaceChildren();
			this.picture.tips.length = 0;
			if (x.from === 0 && x.to === whole && scale === 1 || x.from >= data.until) return;
			const low = this.height() * 0.1, high = this.height() * 0.8, drawn = [], words = [];
			let count = 0;
			for (let rank = this.first; rank < this.last; rank++) {
				const all = this.rows('calls', rank, 3), calls = all.filter(r => r[1] > x.from && r[0] < x.to);
				drawn.push([rank, calls, all.find(r => r[0] >= x.to)]);
				if ((count += calls.length) > 3000) return; // colours say more
			}
			const bar = (kind, rank, from, to, part, tip) => {
				const a = Math.max(x.at(from), room.left), b = Math.min(x.at(to), room.right), y = this.top(rank) + low + high * (1 - part) / 2;
				const g = make('g', tip ? { 'data-tip': tip } : {});
				g.append(make('rect', { class: kind, x: a, y, width: Math.max(b - a, 0.5), height: high * part }));
				this.group.append(g);
				if (tip) this.picture.tips.push(g);
				return [a, b, y];
			};
			const span = (from, to) => `${amount(from)} to ${amount(to)} ${this.unit()}, ${amount(to - from)} ${this.unit()}`;
			const amount = v => Number(v.toPrecision(6));
			this.group.append(make('rect', { class: 'ground', x: room.left, y: room.top, width: Math.min(x.at(data.until), room.right) - room.left, height: room.bottom - room.top }));
			for (const [rank, calls, next] of drawn) {
				let before = x.from;
				for (const [from, to, name] of calls) {
					if (from > before) bar('computes', rank, before, from, 1, `rank ${rank}, computes: ${span(before, from)}`);
					const [a, b, y] = bar('call', rank, from, to, 1, `rank ${rank}, ${data.names[name]}: ${span(from, to)}`);
					if (this.height() >= 14 && b - a > 7 * data.names[name].length) words.push(make('text', { class: 'callname', x: (a + b) / 2, y: y + high / 2 + 4, 'text-anchor': 'middle', 'font-size': 11 }, data.names[name]));
					before = to;
				}
				if (next && before < x.to) bar('computes', rank, before, next[0], 1, `rank ${rank}, computes: ${span(before, next[0])}`);
				for (const [from, to] of this.rows('waits', rank, 2)) if (to > x.from && from < x.to) bar('waits', rank, from, to, 0.5, `rank ${rank}, waits: ${span(from, to)}`);
			}
			this.group.append(...words);
			this.arrows(span);
		}
		unit() { return /\((\w+)\)/.exec([...this.svg.querySelectorAll('text')].map(t => t.textContent).find(t => t.startsWith('time (')) ?? '')?.[1] ?? ''; }
		// arrows draws the messages between ranks that are shown, unless they are too many to be told apart.
		arrows(span) {
			const { plot: { x }, data } = this, all = [];
			let at = 0;
			Detail.decode(data.messages, 5, ([from, to, gap, took, bytes]) => {
				at += gap;
				const depart = at * data.tick, arrive = (at + took) * data.tick;
				if (arrive > x.from && depart < x.to && [from, to].every(r => r >= this.first && r < this.last)) all.push([from, to, depart, arrive, bytes]);
				return depart < x.to && all.length <= 600;
			});
			if (all.length > 600) return;
			for (const [from, to, depart, arrive, bytes] of all) {
				const g = make('g', { 'data-tip': `${bytes} bytes from rank ${from} to rank ${to}: ${span(depart, arrive)}` });
				g.append(make('path', { class: 'message', d: `M${x.at(depart)} ${this.top(from + 0.5)}L${x.at(arrive)} ${this.top(to + 0.5)}` }));
				this.group.append(g);
				this.picture.tips.push(g);
			}
		}
	}

	// A picture is one drawing of a chart; a page has one for phones and one for wide windows.
	class Picture {
		constructor(chart, svg, panels) {
			this.chart = chart;
			this.svg = svg;
			this.plots = [...svg.querySelectorAll('g.axes')].map((g, i) => new Plot(g, panels?.[i]));
			this.tips = [...svg.querySelectorAll('[data-tip]')];
			this.current = -1;
			const detail = chart.figure.dataset.detail;
			if (detail && svg.querySelector('image')) this.detail = new Detail(this, chart.detail ??= JSON.parse(detail));
			if (!this.plots.length && !this.tips.length) return;
			svg.setAttribute('role', 'group');
			svg.setAttribute('tabindex', '0');
			svg.setAttribute('aria-description', 'Arrow keys go from value to value.');
			for (const e of svg.querySelectorAll('g.entry')) this.entry(e);
			let plot = null;
			for (const e of svg.querySelectorAll('g.axes,g[data-series]:not(.entry),g.zoom,g.lanes')) {
				if (e.matches('.axes')) plot = this.plots.find(p => p.axes === e);
				else if (e.matches('.zoom,.lanes')) this.plots[0]?.take(e);
				else plot?.take(e);
			}
			this.ring = make('circle', { class: 'ring', r: 7, visibility: 'hidden' });
			svg.append(this.ring);
			svg.addEventListener('pointermove', e => this.hover(e));
			svg.addEventListener('pointerdown', e => this.hover(e));
			svg.addEventListener('pointerleave', () => this.leave());
			svg.addEventListener('blur', () => this.leave());
			svg.addEventListener('keydown', e => this.key(e));
		}
		// entry makes an entry of the legend a switch of its series.
		entry(e) {
			const name = e.dataset.series, box = e.getBBox();
			if (!name) return;
			e.prepend(make('rect', { x: box.x - 3, y: box.y - 3, width: box.width + 6, height: box.height + 6, rx: 3, class: 'hit' }));
			for (const [k, v] of [['role', 'button'], ['tabindex', '0'], ['aria-pressed', 'true'], ['aria-label', name]]) e.setAttribute(k, v);
			e.addEventListener('click', () => this.chart.toggle(name));
			e.addEventListener('keydown', k => {
				if (k.key !== 'Enter' && k.key !== ' ') return;
				k.preventDefault();
				k.stopPropagation();
				this.chart.toggle(name);
			});
			for (const on of ['pointerenter', 'focus']) e.addEventListener(on, () => this.emphasize(name));
			for (const off of ['pointerleave', 'blur']) e.addEventListener(off, () => this.emphasize(''));
		}
		emphasize(name) {
			for (const e of this.svg.querySelectorAll('g[data-series]:not(.entry)')) e.classList.toggle('back', name !== '' && e.dataset.series !== name && e.dataset.kind !== name);
		}
		// cut cuts off what is outside of the edges of a plot.
		cut(plot) {
			if (plot.clip) return;
			const { left, right, top, bottom } = plot.room;
			const clip = (groups, y, height) => {
				const path = make('clipPath', { id: 'clip-' + ++clips });
				path.append(make('rect', { x: left, y, width: right - left, height }));
				this.svg.prepend(path);
				for (const g of groups) g.setAttribute('clip-path', `url(#${path.id})`);
				return path;
			};
			plot.clip = clip(plot.groups, top - 4, bottom - top + 8);
			const box = this.svg.viewBox.baseVal;
			clip(plot.lanes, box.y, box.height);
			this.detail?.group.setAttribute('clip-path', `url(#${plot.clip.id})`);
		}
		place(e) {
			const box = this.svg.viewBox.baseVal, r = this.svg.getBoundingClientRect();
			return [box.x + (e.clientX - r.left) * box.width / r.width, box.y + (e.clientY - r.top) * box.height / r.height];
		}
		// points returns the points that are shown, each with its place.
		points() {
			const out = [];
			for (const plot of this.plots)
				for (const s of plot.panel?.series ?? []) {
					if (this.chart.hidden.has(s.name) || this.chart.hidden.has(s.kind)) continue;
					const name = s.kind ? s.name + ', ' + s.kind : s.name;
					for (const v of s.points) {
						const x = plot.x.at(v[0]), y = plot.y.at(v[1]), r = plot.room;
						if (x >= r.left - 1 && x <= r.right + 1 && y >= r.top - 5 && y <= r.bottom + 5) out.push({ plot, name, v, x, y });
					}
				}
			return out;
		}
		hover(e) {
			const tip = e.target.closest?.('[data-tip]');
			if (tip) return this.tell(this.tips.indexOf(tip));
			const [x, y] = this.place(e);
			let best = null, least = Infinity;
			for (const p of this.points()) {
				const r = p.plot.room;
				if (x < r.left - 10 || x > r.right + 10 || y < r.top - 10 || y > r.bottom + 10) continue;
				const d = Math.hypot(p.x - x, p.y - y);
				if (d < least) [best, least] = [p, d];
			}
			if (best) this.show(best);
			else this.leave();
		}
		words(p) {
			const unit = /\(([^)]*)\)\s*$/.exec(p.plot.panel.y)?.[1] ?? '', [x, y, low, high, of] = p.v;
			const amount = v => {
				if (unit !== 'us') return `${round(v)} ${unit}`;
				const [factor, name] = v > 0 && v < 1 ? [1e3, 'ns'] : v >= 1e7 ? [1e-6, 's'] : v >= 1e4 ? [1e-3, 'ms'] : [1, 'us'];
				return `${round(v * factor)} ${name}`;
			};
			const at = p.plot.panel.x ? `${p.plot.panel.x} ${x}` : size(of ?? x);
			const sign = /%/.test(unit) && y > 0 && p.plot.y.from < 0 ? '+' : '';
			return `${p.name}, ${at}: ${sign}${amount(y)}` + (low === undefined || low === null ? '' : ` (${amount(low)} to ${amount(high)})`);
		}
		show(p) {
			this.at = { name: p.name, plot: p.plot, x: p.v[0] };
			this.ring.setAttribute('cx', p.x);
			this.ring.setAttribute('cy', p.y);
			this.ring.setAttribute('visibility', 'visible');
			this.chart.say(this.words(p), this.svg, p.x, p.y);
		}
		// tell shows what a part of a time line is.
		tell(i) {
			this.tips[this.current]?.classList.remove('current');
			this.current = i;
			const e = this.tips[i];
			if (!e) return this.leave();
			e.classList.add('current');
			const box = e.getBBox();
			const r = this.plots[0]?.room ?? { left: -Infinity, right: Infinity };
			this.chart.say(e.dataset.tip, this.svg, Math.min(Math.max(box.x + box.width / 2, r.left), r.right), box.y);
		}
		leave() {
			this.ring.setAttribute('visibility', 'hidden');
			this.tips[this.current]?.classList.remove('current');
			this.chart.say('');
		}
		key(e) {
			const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key];
			const zoom = this.chart.zooms && !e.ctrlKey && !e.metaKey && { '+': 2, '=': 2, '-': 0.5 }[e.key];
			if (e.key === 'Escape') this.leave();
			else if (e.key === '0' && !e.ctrlKey && !e.metaKey) this.chart.reset();
			else if (zoom !== undefined && zoom !== false) this.chart.zoom(zoom, this.middle());
			else if (steps && e.shiftKey && this.chart.zooms) this.chart.pan(steps[0] / 4);
			else if (steps && this.tips.length) this.step(steps[0] + steps[1]);
			else if (steps) this.walk(...steps);
			else return;
			e.preventDefault();
		}
		// middle is where to zoom by keyboard: at the part that is told, or in the middle.
		middle() {
			const e = this.tips[this.current], p = this.plots[0];
			if (!e?.matches('.current')) return undefined;
			const box = e.getBBox();
			return p.x.value(Math.min(Math.max(box.x + box.width / 2, p.room.left), p.room.right));
		}
		step(by) {
			const r = this.plots[0]?.room;
			for (let i = this.current + by; i >= 0 && i < this.tips.length; i += by) {
				const box = this.tips[i].getBBox();
				if (shown(this.tips[i]) && (!r || box.x + box.width >= r.left && box.x <= r.right)) return this.tell(i);
			}
		}
		walk(along, across) {
			const all = this.points(), names = [...new Set(all.map(p => p.name))];
			if (!all.length) return;
			const now = all.find(p => p.plot === this.at?.plot && p.name === this.at.name && p.v[0] === this.at.x);
			if (!now) return this.show(all[0]);
			const nearest = ps => ps.reduce((a, b) => Math.abs(b.x - now.x) < Math.abs(a.x - now.x) ? b : a);
			if (across) {
				const name = names[(names.indexOf(now.name) + across + names.length) % names.length];
				return this.show(nearest(all.filter(p => p.name === name && (p.plot === now.plot || !all.some(q => q.name === name && q.plot === now.plot)))));
			}
			const line = all.filter(p => p.plot === now.plot && p.name === now.name).sort((a, b) => a.v[0] - b.v[0]);
			this.show(line[Math.min(Math.max(line.indexOf(now) + along, 0), line.length - 1)]);
		}
	}

	// A chart is a figure with its pictures, the same in each.
	class Chart {
		constructor(figure) {
			this.figure = figure;
			this.hidden = new Set();
			const panels = figure.dataset.values ? JSON.parse(figure.dataset.values) : null;
			this.tip = make('div', { class: 'tip', role: 'status', hidden: '' });
			const svgs = [...figure.querySelectorAll('svg.chart')];
			this.pictures = svgs.map(svg => new Picture(this, svg, panels)).filter(p => p.plots.length || p.tips.length);
			this.zooms = this.pictures.some(p => p.plots[0]?.y.kind === 'none');
			if (!this.pictures.length) return;
			figure.append(this.tip);
			this.tools();
			for (const name of new Set([...figure.querySelectorAll('g.entry[data-optional]')].map(e => e.dataset.series))) this.toggle(name);
			for (const p of this.pictures) if (this.zooms || p.points().length) this.drag(p);
		}
		tools() {
			const box = make('div', { class: 'tools', role: 'group', 'aria-label': 'Chart' });
			const add = (words, press, on, meaning = words) => {
				const b = make('button', { type: 'button', 'aria-label': meaning, title: meaning }, words);
				if (on !== undefined) b.setAttribute('aria-pressed', on);
				b.addEventListener('click', () => press(b));
				box.append(b);
			};
			const first = this.pictures[0].plots[0];
			if (this.zooms) {
				add('Zoom in', () => this.zoom(2));
				add('Zoom out', () => this.zoom(0.5));
				add('Earlier', () => this.pan(-0.25));
				add('Later', () => this.pan(0.25));
				add('Whole', () => this.reset());
			} else if (first) {
				for (const axis of ['x', 'y']) {
					if (first[axis].from < 0 || !first.panel?.series.length) continue;
					add('Log ' + axis, b => {
						const on = b.getAttribute('aria-pressed') !== 'true';
						b.setAttribute('aria-pressed', on);
						this.scale(axis, on);
					}, first[axis].kind === 'log', `Log ${axis}: logarithmic ${axis === 'x' ? 'horizontal' : 'vertical'} axis`);
					(this.scaleButtons ??= {})[axis] = box.lastChild;
				}
				if (first.panel?.series.length) add('Whole', () => this.reset());
			}
			if (box.children.length) this.figure.querySelector('svg.chart').before(box);
		}
		// toggle hides a series, or shows it again.
		toggle(name) {
			if (!this.hidden.delete(name)) this.hidden.add(name);
			for (const { svg, ring } of this.pictures) {
				ring.setAttribute('visibility', 'hidden');
				for (const e of svg.querySelectorAll('g[data-series]')) {
					const off = this.hidden.has(e.dataset.series) || this.hidden.has(e.dataset.kind);
					if (e.matches('.entry')) {
						e.setAttribute('aria-pressed', !off);
						e.classList.toggle('off', off);
					} else e.style.display = off ? 'none' : '';
				}
			}
			this.say('');
		}
		// scale makes an axis logarithmic or linear. A panel below keeps its vertical axis, and has the same horizontal one.
		scale(axis, logarithmic) {
			for (const p of this.pictures) {
				for (const [i, plot] of p.plots.entries()) {
					if (axis === 'y' && i > 0) continue;
					const drawn = axis === 'x' ? plot.drawnX : plot.drawnY;
					const kind = logarithmic ? 'log' : 'linear';
					if (kind === drawn.kind) plot[axis] = drawn;
					else if (!logarithmic) plot[axis] = drawn.with({ kind, from: 0, zero: 0 });
					else {
						const values = plot.panel.series.flatMap(s => s.points.map(v => v[axis === 'x' ? 0 : 1])).filter(v => v > 0);
						plot[axis] = drawn.with({ kind, from: Math.min(...values, drawn.to / 10) / 1.3 });
					}
					plot.move();
				}
				p.leave();
			}
		}
		// zoom shows a part of the time: shorter by a factor about a time, or all.
		zoom(factor, about) {
			for (const p of this.pictures) {
				const plot = p.plots[0], whole = plot.drawnX, { from, to } = plot.x;
				const middle = about ?? (from + to) / 2;
				const span = factor ? Math.max((to - from) / factor, whole.to / 4096) : Infinity;
				this.window(p, middle - (middle - from) * span / (to - from), span);
			}
		}
		pan(part) {
			for (const p of this.pictures) {
				const { from, to } = p.plots[0].x;
				this.window(p, from + part * (to - from), to - from);
			}
		}
		window(p, from, span) {
			const plot = p.plots[0], whole = plot.drawnX;
			if (!(span < whole.to)) [from, span] = [0, whole.to];
			from = Math.min(Math.max(from, 0), whole.to - span);
			plot.x = whole.with({ from, to: from + span });
			p.cut(plot);
			plot.move();
			p.detail?.draw();
			p.leave();
		}
		// drag selects a part by the pointer, which is then all that is shown.
		drag(p) {
			let begin = null, plot = null;
			const frame = make('rect', { class: 'frame', visibility: 'hidden' });
			p.svg.append(frame);
			const clamp = (v, a, b) => Math.min(Math.max(v, a), b);
			const area = e => {
				const [x, y] = p.place(e), { left, right, top, bottom } = plot.room, rows = !this.zooms || p.detail;
				const [x0, x1] = [begin[0], clamp(x, left, right)].sort((a, b) => a - b);
				const [y0, y1] = rows && Math.abs(y - begin[1]) > 10 ? [begin[1], clamp(y, top, bottom)].sort((a, b) => a - b) : [top, bottom];
				return { x0, x1, y0, y1, rows: y0 > top || y1 < bottom };
			};
			p.svg.addEventListener('pointerdown', e => {
				const [x, y] = p.place(e);
				plot = p.plots.find(({ room: r }) => x >= r.left && x <= r.right && y >= r.top && y <= r.bottom);
				begin = plot && e.pointerType === 'mouse' && e.button === 0 ? [x, y] : null;
				if (begin) e.preventDefault();
			});
			p.svg.addEventListener('pointermove', e => {
				if (!begin || !e.buttons) return;
				const { x0, x1, y0, y1 } = area(e);
				for (const [k, v] of Object.entries({ x: x0, y: y0, width: x1 - x0, height: y1 - y0, visibility: 'visible' })) frame.setAttribute(k, v);
			});
			window.addEventListener('pointerup', e => {
				if (!begin) return;
				const { x0, x1, y0, y1, rows } = area(e);
				frame.setAttribute('visibility', 'hidden');
				begin = null;
				if (x1 - x0 < 4) return;
				this.select(p, plot, plot.x.value(x0), plot.x.value(x1), rows && [y0, y1]);
			});
			p.svg.addEventListener('dblclick', () => this.reset());
			if (!this.zooms) return;
			p.svg.addEventListener('wheel', e => {
				if (!e.ctrlKey) return;
				e.preventDefault();
				this.zoom(e.deltaY < 0 ? 1.5 : 1 / 1.5, p.plots[0].x.value(p.place(e)[0]));
			}, { passive: false });
		}
		// select shows a part of a plot, in all pictures.
		select(p, plot, from, to, rows) {
			if (this.zooms) {
				const ranks = rows && p.detail && rows.map(y => p.detail.rankAt(y));
				for (const q of this.pictures) {
					if (ranks) q.detail?.select(...ranks);
					this.window(q, from, Math.max(to - from, q.plots[0].drawnX.to / 65536));
				}
				return;
			}
			const i = p.plots.indexOf(plot), part = (v, w) => [Math.min(v, w), Math.max(v, w)];
			const [low, high] = rows ? part(...rows.map(y => plot.y.value(y))) : [];
			for (const q of this.pictures) {
				for (const [k, other] of q.plots.entries()) {
					if (k === i && rows) other.y = other.y.with({ from: low, to: high });
					other.x = other.x.with({ from: Math.max(from, other.x.zero), to, zero: from > other.x.zero ? 0 : other.x.zero });
					q.cut(other);
					other.move();
				}
				q.leave();
			}
		}
		// reset shows all again.
		reset() {
			if (this.zooms) {
				for (const { detail } of this.pictures) detail?.select(0, detail.ranks);
				return this.zoom(0);
			}
			for (const p of this.pictures) {
				for (const plot of p.plots) {
					[plot.x, plot.y] = [plot.drawnX, plot.drawnY];
					plot.move();
				}
				p.leave();
			}
			for (const axis of ['x', 'y']) this.scaleButtons?.[axis]?.setAttribute('aria-pressed', this.pictures[0].plots[0][axis].kind === 'log');
		}
		// say shows words near a place of a picture.
		say(words, svg, x, y) {
			this.tip.hidden = !words;
			this.tip.textContent = words;
			if (!words) return;
			const f = this.figure.getBoundingClientRect(), r = svg.getBoundingClientRect(), box = svg.viewBox.baseVal;
			const left = r.left - f.left + (x - box.x) * r.width / box.width, top = r.top - f.top + (y - box.y) * r.height / box.height;
			const width = this.tip.offsetWidth, height = this.tip.offsetHeight;
			this.tip.style.left = Math.min(Math.max(left - width / 2, 0), Math.max(f.width - width, 0)) + 'px';
			this.tip.style.top = (top - height - 12 < 0 ? top + 12 : top - height - 12) + 'px';
		}
	}
	let clips = 0;

	for (const figure of document.querySelectorAll('figure[id^="chart-"]')) new Chart(figure);

	// A link to a section that is folded unfolds it.
	const unfold = () => {
		const fold = location.hash && document.getElementById(location.hash.slice(1))?.querySelector(':scope > details');
		if (fold) fold.open = true;
	};
	window.addEventListener('hashchange', unfold);
	unfold();
})();
