-- SPDX-License-Identifier: GPL-2.0
-- For DuckDB, before the other files: what the tables are called, in the directory that it runs in.
CREATE OR REPLACE VIEW meta AS SELECT *, parse_filename(filename) AS file FROM read_parquet('meta/*/*/*.parquet', hive_partitioning = true, union_by_name = true, filename = true);
CREATE OR REPLACE VIEW idle AS FROM read_parquet('idle/*/*/*.parquet', hive_partitioning = true, union_by_name = true);
CREATE OR REPLACE VIEW steps AS FROM read_parquet('steps/*/*/*.parquet', hive_partitioning = true, union_by_name = true);
CREATE OR REPLACE VIEW step_work AS FROM read_parquet('step_work/*/*/*.parquet', hive_partitioning = true, union_by_name = true);
CREATE OR REPLACE VIEW step_collectives AS FROM read_parquet('step_collectives/*/*/*.parquet', hive_partitioning = true, union_by_name = true);
-- The number behind a word in a text.
CREATE OR REPLACE MACRO number_behind(text, word) AS regexp_extract(text, word || '=([0-9]+)', 1)::BIGINT;
