-- SPDX-License-Identifier: GPL-2.0
-- For ClickHouse, before the other files: what the tables are called, in the directory that it runs in.
-- Its median() is exact for up to 8,192 values, so the queries take that of the ranks in a step, then that of steps.
SET cast_keep_nullable = 1;
SET join_use_nulls = 1;
-- Columns that filters of joins need are not found in some versions (26.7).
SET enable_join_runtime_filters = 0;
CREATE OR REPLACE VIEW meta AS SELECT *, _file AS file FROM file('meta/*/*/*.parquet', Parquet);
CREATE OR REPLACE VIEW idle AS SELECT * FROM file('idle/*/*/*.parquet', Parquet);
CREATE OR REPLACE VIEW steps AS SELECT * FROM file('steps/*/*/*.parquet', Parquet);
CREATE OR REPLACE VIEW step_work AS SELECT * FROM file('step_work/*/*/*.parquet', Parquet);
CREATE OR REPLACE VIEW step_collectives AS SELECT * FROM file('step_collectives/*/*/*.parquet', Parquet);
-- The number behind a word in a text.
CREATE OR REPLACE FUNCTION number_behind AS (text, word) -> CAST(regexpExtract(text, concat(word, '=([0-9]+)'), 1) AS BIGINT);
