"""The two database roles: one owns the tables and migrates, one serves and owns nothing.

What the service cannot do (rewrite the audit log, drop a table) it cannot be talked into doing.
"""

OWNER_ROLE = "governance_owner"
SERVICE_ROLE = "governance_service"
DATABASE_NAME = "governance"

BECOME_SERVICE = f"SET ROLE {SERVICE_ROLE}"

CREATE_SERVICE_ROLE = f"""
DO $$
DECLARE
  -- From 16 on, whoever makes a role belongs to it and yet may not take it without a grant of its own.
  taking text := CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'SET' ELSE 'MEMBER' END;
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{SERVICE_ROLE}') THEN
    CREATE ROLE {SERVICE_ROLE} NOLOGIN;
  END IF;
  IF NOT pg_has_role(current_user, '{SERVICE_ROLE}', taking) THEN
    EXECUTE format('GRANT {SERVICE_ROLE} TO %I', current_user);
  END IF;
EXCEPTION
  WHEN insufficient_privilege THEN
    RAISE NOTICE 'this role may not create {SERVICE_ROLE}; the service will work as the owner of its tables';
  WHEN duplicate_object OR unique_violation THEN
    NULL;
END
$$
"""
"""Runs in the first migration. Idempotent, and quiet where the owner may create no role."""
