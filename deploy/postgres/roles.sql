-- Runs once, as the superuser, on an empty data folder: the database, its owner who migrates, and the service's
-- own login, which owns nothing. On a Postgres of your own run it by hand with both variables set.
\getenv owner_password OWNER_PASSWORD
\getenv service_password SERVICE_PASSWORD
CREATE ROLE governance_owner LOGIN PASSWORD :'owner_password';
CREATE ROLE governance_service LOGIN PASSWORD :'service_password';
CREATE DATABASE governance OWNER governance_owner ENCODING 'UTF8' TEMPLATE template0;
REVOKE ALL ON DATABASE governance FROM PUBLIC;
GRANT CONNECT, TEMPORARY ON DATABASE governance TO governance_service;
